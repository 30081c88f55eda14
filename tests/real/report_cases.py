"""Which tests show that a report case of groups A, B, C, E and F behaves as its entry says, and which do not yet."""

from __future__ import annotations

from typing import Final

_HERE = "tests/real/test_report_cases.py"
_RUNS = "tests/real/test_report_cases_runs.py"
_ATCODER = "tests/ingest/test_atcoder.py"
_COLLECTING = "tests/ingest/test_collecting.py"
_MANNERS = "tests/ingest/test_fetch_manners.py"
_SCHEDULE = "tests/ingest/test_schedule.py"
_STORE = "tests/db/test_report_cases.py"
_KEPT = "tests/real/test_report_cases_kept.py"
_TESTS = "tests/real/test_report_cases_tests.py"
_JUDGING = "tests/real/test_report_cases_judging.py"
_MADE = "tests/real/test_report_cases_made_tests.py"
_SCORES = "tests/real/test_report_cases_scores.py"
_PROGRAMS = "tests/sandbox/test_reports.py"
_MACHINE = "tests/sandbox/test_reports_machine.py"
_ORPHANS = "tests/sandbox/test_orphans.py"
_JUDGE = "tests/sandbox/test_judge.py"
_VERDICTS = f"{_PROGRAMS}::test_programs_get_the_verdicts_of_the_case"
_COMPARISONS = f"{_PROGRAMS}::test_comparisons_are_those_of_the_case"

CASES: Final = {
    "A01": (
        f"{_HERE}::test_a01_a_task_of_two_contests_stays_where_it_is",
        "tests/real/test_atcoder_cases.py::test_reported_case_of_a_task_in_two_contests",
    ),
    "A03": (
        "tests/real/test_duplicates.py::test_a03_only_white_space_is_merged",
        "tests/ingest/test_duplicates.py::test_problems_of_one_round_are_never_merged",
    ),
    "A04": (
        f"{_HERE}::test_a04_what_subscribers_saw_first_is_public_since_then",
        "tests/real/test_leetcode_cases.py::test_case_a04_the_earliest_sighting_is_the_first_publication",
    ),
    "A05": (
        f"{_HERE}::test_a05_a_contest_that_moves_twice_waits_for_its_end",
        "tests/real/test_codeforces_pages.py::test_a_contest_that_moved_twice",
    ),
    "A09": (
        f"{_HERE}::test_a09_a_start_of_nothing_is_undated_in_every_table",
        "tests/real/test_atcoder_cases.py::test_reported_case_of_contests_without_a_start",
    ),
    "A11": ("tests/real/test_other_sources.py::test_case_a11_a_time_without_a_zone_is_in_the_zone_of_its_source",),
    "A13": (
        "tests/real/test_atcoder_cases.py::test_reported_case_of_two_languages",
        "tests/ingest/test_atcoder_tasks.py::test_the_statement_is_the_english_one_and_the_japanese_one_is_kept",
    ),
    "A14": (f"{_HERE}::test_a14_a_drawing_is_a_part_of_the_statement",),
    "A16": ("tests/real/test_codeforces_pages.py::test_lines_in_elements",),
    "A18": (
        "tests/real/test_leetcode_cases.py::test_case_a18_superscripts_stay",
        "tests/real/test_markdown.py::test_report_case_of_lost_powers",
    ),
    "A20": (f"{_HERE}::test_a20_a_problem_in_a_picture_is_left_out_and_counted",),
    "A21": (
        f"{_HERE}::test_a21_russian_text_is_kept_beside_the_english_one",
        "tests/real/test_codeforces_pages.py::test_a_russian_page_in_place_of_an_english_one",
    ),
    "A22": (
        f"{_HERE}::test_a22_answers_to_the_japanese_text_are_not_mixed_with_those_to_the_english",
        "tests/real/test_atcoder_cases.py::test_reported_case_of_a_translation_that_comes_later",
    ),
    "A23": (
        "tests/real/test_fetching.py::test_a23_pages_of_old_encodings",
        f"{_COLLECTING}::test_text_that_could_not_be_decoded_is_refused",
    ),
    "A24": (
        f"{_RUNS}::test_a24_a_login_in_place_of_data_fails_one_source_alone",
        "tests/real/test_fetching.py::test_a24_a_data_address_that_leads_to_the_login",
    ),
    "A26": (
        f"{_HERE}::test_a26_the_run_lists_what_is_absent",
        "tests/real/test_fetching.py::test_a26_missing_flaky_and_throttled_pages",
        "tests/ingest/test_fetch_trouble.py::test_a_trouble_that_stays_ends_after_the_tries",
    ),
    "A27": (
        f"{_RUNS}::test_a27_one_interval_for_all_jobs",
        f"{_MANNERS}::test_a_pause_that_one_job_is_asked_for_holds_for_all",
        f"{_MANNERS}::test_threads_of_one_run_keep_the_interval_and_other_hosts_their_own",
    ),
    "A28": (f"{_HERE}::test_a28_a_column_more_changes_nothing", f"{_ATCODER}::test_a_row_that_cannot_be_read_is_named"),
    "A30": (
        f"{_HERE}::test_a30_only_the_archives_own_end_is_an_end",
        f"{_ATCODER}::test_a_page_without_the_archive_is_never_its_end",
    ),
    "A31": (f"{_RUNS}::test_a31_a_contest_that_is_not_whole_is_told_and_made_whole",),
    "A32": (f"{_KEPT}::test_a32_a_series_is_found_by_its_category_and_a_menu_is_no_contest",),
    "A33": (f"{_HERE}::test_a33_an_answer_stays_with_the_text_that_it_was_given_to",),
    "A35": (
        f"{_HERE}::test_a35_a_locked_problem_is_counted_until_its_text_is_there",
        "tests/real/test_leetcode_cases.py::test_case_a35_a_locked_problem_has_no_statement",
    ),
    "A37": (
        f"{_RUNS}::test_a37_a_source_that_does_not_load_stops_no_command",
        f"{_RUNS}::test_a37_nothing_is_asked_at_import_or_for_help",
        "tests/live/test_demo.py::test_verdicts_and_scores_are_the_expected_ones",
    ),
    "B01": (
        f"{_JUDGING}::test_b01_a_checker_takes_every_right_answer",
        f"{_TESTS}::test_b01_any_answer_needs_a_checker_or_is_left_out",
    ),
    "B03": (
        f"{_TESTS}::test_b03_interactive_problems_are_left_out_by_their_rules_and_not_by_a_word",
        "tests/real/test_wording.py::test_report_case",
    ),
    "B04": (
        f"{_JUDGING}::test_b04_tests_that_break_the_limits_are_refused",
        "tests/ingest/test_validating.py::test_a_problem_whose_hidden_tests_are_all_refused_is_not_scored",
    ),
    "B06": (
        _VERDICTS,
        f"{_PROGRAMS}::test_b06_empty_strings_in_calls",
        "tests/real/test_leetcode_cases.py::test_case_b06_an_empty_text_is_an_argument",
    ),
    "B08": (f"{_TESTS}::test_b08_a_test_that_its_source_cut_off_is_dropped",),
    "B09": (_COMPARISONS, "tests/sandbox/test_comparison.py::test_an_output_is_taken_or_not"),
    "B11": (
        _COMPARISONS,
        "tests/sandbox/test_comparison.py::test_an_output_is_taken_or_not",
        f"{_MADE}::test_b11_a_number_that_went_through_a_float_is_another_one",
    ),
    "B12": (
        _VERDICTS,
        f"{_TESTS}::test_b12_answers_of_other_systems_are_stored_as_utf8_with_lf",
        f"{_JUDGING}::test_b12_answers_of_other_systems_judge_as_their_text_says",
        f"{_MADE}::test_b12_outputs_of_other_systems_are_expected_as_utf8_with_lf",
        f"{_MADE}::test_b12_an_output_that_is_no_text_is_no_expected_output",
    ),
    "B14": (
        _COMPARISONS,
        "tests/sandbox/test_comparison.py::test_an_output_is_taken_or_not",
        f"{_MADE}::test_b14_yes_in_capitals_is_right_only_where_the_statement_allows_it",
    ),
    "B15": (f"{_JUDGING}::test_b15_what_a_checker_fails_to_say_is_no_verdict",),
    "B16": (f"{_JUDGING}::test_b16_the_flags_of_a_package_and_of_its_groups_hold",),
    "B17": (f"{_TESTS}::test_b17_a_list_and_archives_that_do_not_match",),
    "B18": (
        f"{_TESTS}::test_b18_tests_that_are_the_samples_again_are_none",
        f"{_TESTS}::test_b18_what_passes_samples_alone_has_no_score_and_no_rank",
        f"{_JUDGING}::test_b18_a_table_of_the_samples_passes_what_is_flagged_and_nothing_more",
        f"{_MADE}::test_b18_tests_are_made_where_there_are_samples_alone_and_the_table_fails_them",
    ),
    "B20": (
        f"{_JUDGING}::test_b20_a_program_that_changes_its_arguments_changes_no_test",
        f"{_MADE}::test_b20_made_tests_have_the_input_that_the_reference_was_given",
        "tests/sandbox/test_outputs.py::test_a_program_that_changes_its_arguments_changes_no_input",
    ),
    "B22": (f"{_PROGRAMS}::test_b22_very_long_integers",),
    "C01": (_VERDICTS,),
    "C03": (
        f"{_PROGRAMS}::test_c03_an_endless_program_ends_two_seconds_after_its_limit",
        f"{_ORPHANS}::test_an_endless_program_is_over_two_seconds_after_its_limit",
    ),
    "C05": (_VERDICTS, f"{_PROGRAMS}::test_c05_an_array_that_no_memory_holds"),
    "C07": (
        _VERDICTS,
        f"{_PROGRAMS}::test_c07_no_more_than_the_limit_is_kept",
        f"{_PROGRAMS}::test_c07_a_long_right_answer",
        f"{_JUDGE}::test_the_judge_does_not_grow_with_the_program",
    ),
    "C09": (
        f"{_JUDGING}::test_c09_what_the_machine_lacks_is_no_verdict",
        f"{_JUDGING}::test_c09_without_a_compiler_there_is_no_verdict",
        f"{_JUDGING}::test_c09_a_worker_that_breaks_gives_no_verdict",
        f"{_JUDGING}::test_c09_a_compile_error_proper_is_one",
    ),
    "C11": (
        f"{_MACHINE}::test_c11_the_next_command_removes_what_a_killed_one_left",
        f"{_MACHINE}::test_c11_a_container_that_was_made_after_its_client_gave_up",
        f"{_ORPHANS}::test_an_interrupted_command_leaves_nothing",
        f"{_ORPHANS}::test_containers_of_a_running_command_are_left_alone",
        f"{_JUDGE}::test_a_closed_judge_leaves_nothing",
    ),
    "C12": (f"{_MACHINE}::test_c12_no_network_is_made_for_submissions",),
    "C13": (_VERDICTS, f"{_PROGRAMS}::test_c13_300_times"),
    "C14": (f"{_PROGRAMS}::test_c14_long_inputs",),
    "C15": (_VERDICTS, f"{_JUDGING}::test_c15_a_disk_that_is_full_when_verdicts_are_saved"),
    "C16": (
        f"{_MACHINE}::test_c16_load_changes_no_verdict",
        f"{_MACHINE}::test_c16_no_more_workers_than_cores_by_default",
        f"{_JUDGING}::test_c16_the_report_counts_what_is_near_its_limit",
        f"{_JUDGE}::test_load_does_not_change_verdicts",
        f"{_JUDGE}::test_a_time_limit_near_the_limit_is_measured_again_alone",
    ),
    "C18": (_VERDICTS, f"{_PROGRAMS}::test_c18_the_rule_is_the_same_in_another_language"),
    "C19": (_VERDICTS,),
    "C21": (
        f"{_PROGRAMS}::test_c21_the_same_output_each_time",
        f"{_PROGRAMS}::test_c21_the_output_is_that_of_other_machines",
    ),
    "C22": (
        f"{_MACHINE}::test_c22_an_image_is_known_by_its_digest_and_a_tag_that_moves_changes_nothing",
        f"{_MACHINE}::test_c22_a_module_that_is_nowhere_is_named",
        f"{_JUDGING}::test_c22_verdicts_of_two_images_are_not_pooled",
        f"{_JUDGING}::test_c22_modules_that_are_not_there_are_counted",
    ),
    "C23": (_VERDICTS, f"{_PROGRAMS}::test_c23_other_jails_go_on_beside_a_fork_bomb"),
    "E01": (
        f"{_SCORES}::test_e01_pass_at_5_of_one_sample_is_no_number",
        "tests/eval/test_evaluation.py::test_pass_at_5_of_one_sample_each_has_no_number",
    ),
    "E03": (
        f"{_SCORES}::test_e03_a_run_that_lacks_problems_says_so_and_ranks_over_common_ones_alone",
        "tests/eval/test_evaluation.py::test_missing_completions_are_left_out_and_said",
        "tests/eval/test_evaluation.py::test_problems_weigh_the_same_whatever_their_samples",
    ),
    "E05": (f"{_SCORES}::test_e05_without_a_known_cut_off_there_is_no_window",),
    "E07": (f"{_SCORES}::test_e07_a_corrected_cut_off_and_a_new_name_leave_the_old_table",),
    "E09": (
        f"{_SCORES}::test_e09_a_window_with_nothing_in_it_says_what_became_of_all",
        "tests/eval/test_evaluation.py::test_an_empty_window_gives_no_number",
    ),
    "E11": (f"{_SCORES}::test_e11_the_last_day_of_a_window_is_in_it",),
    "E13": (f"{_SCORES}::test_e13_two_models_meet_on_common_problems",),
    "E14": (f"{_SCORES}::test_e14_a_run_of_another_window_is_found_by_its_own",),
    "E15": (
        f"{_SCORES}::test_e15_results_that_contradict_each_other_count_for_nothing",
        f"{_SCORES}::test_e15_a_sample_has_one_program_and_one_verdict",
        "tests/eval/test_evaluation.py::test_two_outcomes_for_one_problem_are_refused",
    ),
    "E17": (f"{_SCORES}::test_e17_answers_are_joined_by_id",),
    "E18": (f"{_SCORES}::test_e18_ids_are_text_from_end_to_end",),
    "E19": (
        f"{_SCORES}::test_e19_the_error_is_over_problems_and_not_over_samples",
        f"{_SCORES}::test_e19_three_times_the_case_has_a_rate_with_its_method",
    ),
    "E21": (f"{_SCORES}::test_e21_two_versions_of_a_prompt_are_two_runs",),
    "E22": (f"{_SCORES}::test_e22_ranks_are_given_among_runs_of_equal_settings_alone",),
    "E23": (f"{_SCORES}::test_e23_a_cut_off_that_cannot_be_or_need_not_be_is_not_ranked_by",),
    "F01": (
        f"{_RUNS}::test_f01_a_process_that_was_down_at_the_time_runs_once_and_late",
        f"{_SCHEDULE}::test_a_busy_source_delays_no_other_and_is_not_run_twice",
    ),
    "F03": (
        f"{_SCHEDULE}::test_two_schedulers_on_one_store_run_nothing_twice_and_one_takes_over_when_the_other_is_killed",
    ),
    "F05": (
        f"{_RUNS}::test_f05_in_the_night_of_the_clock_change_each_hour_comes_once",
        "tests/ingest/test_planning.py::test_in_the_night_of_a_clock_change_every_hour_comes_once",
    ),
    "F06": (f"{_RUNS}::test_f06_everything_is_planned_in_utc",),
    "F07": (
        f"{_RUNS}::test_f07_a_run_that_hangs_ends_at_its_deadline_and_the_source_is_failing",
        f"{_SCHEDULE}::test_three_timeouts_in_a_row_show_the_source_as_failing_and_the_nights_go_on",
    ),
    "F09": (
        f"{_RUNS}::test_f09_more_requests_than_connections",
        f"{_MANNERS}::test_after_a_batch_that_was_broken_off_the_next_one_works",
        f"{_MANNERS}::test_waiting_for_our_own_pool_is_no_fault_of_the_host",
    ),
    "F10": (
        f"{_STORE}::test_a_collector_two_judges_and_a_report_never_meet_a_lock",
        "tests/db/test_engine.py::test_every_connection_of_a_file_is_set_up",
        "tests/db/test_engine.py::test_a_file_system_without_shared_memory_is_warned_about",
    ),
    "F12": (
        f"{_RUNS}::test_f12_instants_keep_their_zone_and_a_naive_one_is_refused",
        f"{_STORE}::test_raw_text_in_the_file_sorts_in_the_order_of_time",
    ),
    "F14": (
        f"{_KEPT}::test_f14_rows_that_cannot_be_are_refused_by_their_fields_and_kept",
        f"{_KEPT}::test_f14_records_that_cannot_be_are_kept_with_the_page_that_shows_them",
    ),
    "F15": (f"{_KEPT}::test_f15_one_unknown_word_breaks_no_query",),
    "F16": (f"{_RUNS}::test_f16_the_same_task_again_is_one_row",),
    "F17": ("tests/real/test_other_sources.py::test_case_f17_no_contest_is_one_problem_however_often_it_comes",),
    "F18": (
        f"{_RUNS}::test_f18_verdicts_of_the_first_version_come_up_and_what_was_not_kept_is_unknown",
        f"{_STORE}::test_a_store_that_is_too_new_is_refused_and_left_as_it_is",
    ),
    "F19": (f"{_RUNS}::test_f19_what_cannot_be_is_refused_by_its_option_and_a_day_is_one_of_utc",),
}
"""Case -> tests as FILE::FUNCTION; the first one plays the case itself."""

OPEN: Final = {
    "A07": "all but one clause holds (test_report_cases_kept.py): a table from before a withdrawal cannot be made "
    "again, which takes frozen editions",
}
"""Case -> what of its entry does not hold yet."""
