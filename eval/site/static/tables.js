"use strict";

/**
 * Both tables of the start page for a window: which problems count for which run, scores, intervals, what is left out.
 *
 * Follows eval/evaluation.py (each run in its own window), eval/common_window.py and eval/ranking.py (all runs on the
 * same problems) rule by rule: data in, cells out. eval/site/board_data.py describes the data.
 *
 * A window is {since, until, platforms, difficulties}: ms since 1970 (null: no bound), and sets of places in the lists
 * of the data (null: all). A cell is {text, value, high}: `value` is what it sorts by, `high` the upper end of a range.
 * A column without a cell has no number. A place is one of a problem or of a run in the data.
 */
const liveTables = (() => {
  /** Places in the list of reasons; those of problems follow. */
  const [DATE_UNKNOWN, BEFORE_CUTOFF, TOO_NEAR, OUTSIDE_WINDOW, NO_TESTS, SAMPLES_ONLY] = [0, 1, 2, 3, 4, 5];
  const [NO_COMPLETION, NO_RESULT, NOT_JUDGED, INTERNAL_ERROR, OLDER_STATEMENT] = [6, 7, 8, 9, 10];
  const ELIGIBLE = -1;
  const NOT_ADMITTED = -2;

  /** The data with typed arrays for columns, read once. */
  function prepare(data) {
    if (data.format !== 2) throw new Error(`the data are of format ${data.format}`);
    const { n_problems: n, problems, runs } = data;
    const read = reader(data.alphabet);
    const time = read(problems.time, n);
    const starts = [NaN, ...data.times];
    const ends = [...starts];
    for (const [place, end] of data.ends) ends[place + 1] = end;
    const marked = (places) => places.reduce((marks, place) => marks.fill(1, place, place + 1), new Uint8Array(n));
    const untested = marked(problems.untested);
    const samplesOnly = marked(problems.samples_only);
    const scorable = untested.map((one, place) => Number(!one && !samplesOnly[place]));
    const reason = new Int16Array(n).fill(ELIGIBLE);
    for (const [place, why] of problems.kept_out) reason[place] = why;
    const contest = read(problems.contest, n);
    const codes = [[0, 0], ...data.codes];
    return {
      ...data,
      reason,
      untested,
      samplesOnly,
      scorable,
      tests: read(problems.tests, n),
      made: new Map(problems.made.map(([place, ...counts]) => [place, counts])),
      contest,
      at: Float64Array.from(time, (place) => starts[place]),
      end: Float64Array.from(time, (place) => ends[place]),
      platform: read(problems.platform, n),
      difficulty: read(problems.difficulty, n),
      samples: Float64Array.from(codes, ([samples]) => samples),
      // The same share twice: the tables of `live eval` count it in two ways, and the last digit may differ.
      passed: Float64Array.from(codes, ([samples, correct]) => 1 - (samples - correct) / samples),
      share: Float64Array.from(codes, ([samples, correct]) => correct / samples),
      runs: runs.map((run) => {
        const code = read(run.results, n);
        const counts = (place) => run.imported || scorable[place];
        const seen = Uint8Array.from(code, (one, place) => (codes[one][0] && counts(place) ? 1 : 0));
        return { ...run, code, seen, rare: new Map(run.rare) };
      }),
      ranked: data.ranked.map(([since, until, ranks]) => ({ since, until, ranks: read(ranks, 5 * runs.length) })),
      values: new Float64Array(n),
      contests: new Int32Array(n),
      contestNumbers: new Int32Array(contest.reduce((most, one) => Math.max(most, one + 1), 0)),
    };
  }

  /** Reads so many numbers, written with the same number of digits each. */
  function reader(alphabet) {
    const digits = new Uint8Array(128);
    [...alphabet].forEach((mark, digit) => (digits[mark.charCodeAt(0)] = digit));
    return (text, count) => {
      const numbers = new Uint32Array(count);
      for (let place = 0; place < text.length; place++) {
        const number = Math.floor((place * count) / text.length);
        numbers[number] = numbers[number] * alphabet.length + digits[text.charCodeAt(place)];
      }
      return numbers;
    };
  }

  /** What keeps each problem out of a window, cut-offs apart: a reason, ELIGIBLE, or NOT_ADMITTED by the filters. */
  function standing(board, { since, until, platforms, difficulties }) {
    return Int16Array.from(board.at, (at, place) => {
      if (platforms && !platforms.has(board.platform[place])) return NOT_ADMITTED;
      if (difficulties && !difficulties.has(board.difficulty[place])) return NOT_ADMITTED;
      if (Number.isNaN(at)) return DATE_UNKNOWN;
      return at < (since ?? -Infinity) || at >= (until ?? Infinity) ? OUTSIDE_WINDOW : board.reason[place];
    });
  }

  /** Why an eligible problem has no result that counts in a run, or ELIGIBLE. Imported results need no tests here. */
  function withoutResult(board, run, place) {
    if (!run.imported && !board.scorable[place]) return board.untested[place] ? NO_TESTS : SAMPLES_ONLY;
    if (run.seen[place]) return ELIGIBLE;
    const [waiting, internal, older] = run.rare.get(place) ?? [0, 0, 0];
    if (waiting) return NOT_JUDGED;
    if (internal || older) return internal ? INTERNAL_ERROR : OLDER_STATEMENT;
    return run.imported ? NO_RESULT : NO_COMPLETION;
  }

  /** The mean and interval of a share over these problems. */
  function meanOf(board, places, share) {
    const { values, contests, contestNumbers } = board;
    let nContests = 0;
    contestNumbers.fill(-1);
    places.forEach((place, row) => {
      const contest = board.contest[place];
      if (contestNumbers[contest] < 0) contestNumbers[contest] = nContests++;
      contests[row] = contestNumbers[contest];
      values[row] = share(place);
    });
    return { ...liveIntervals.interval(values, places.length, contests, nContests, board.t), nContests };
  }

  const number = (n) => ({ text: String(n), value: n });

  /** The cells of a mean over n problems: a handful is shown as a count, none as no number at all. */
  function scoreCells({ mean, low, high, nContests }, n, isFew) {
    const cells = { problems: number(n), contests: number(nContests) };
    if (mean === null) return cells;
    const text = isFew ? `${liveIntervals.threeDigits(mean * n)} of ${n}` : liveIntervals.percent(mean);
    cells.score = { text, value: mean };
    if (!isFew && low !== null) {
      cells.interval = { text: liveIntervals.span(low, high), value: low, high };
    }
    return cells;
  }

  /** The cells of each run on the problems of the window after its own cut-off. */
  function own(board, window) {
    const rest = standing(board, window);
    return board.runs.map((run) => {
      if (run.refused !== null) return { note: { text: `not scored: ${run.refused}` } };
      const leftOut = new Map();
      const judged = [];
      let eligible = 0;
      for (let place = 0; place < rest.length; place++) {
        if (rest[place] === NOT_ADMITTED) continue;
        // The cut-off comes before the bounds of the window.
        const isBefore = board.at[place] < run.start;
        let reason = isBefore ? (board.end[place] > run.start ? TOO_NEAR : BEFORE_CUTOFF) : rest[place];
        if (reason === ELIGIBLE) {
          eligible++;
          reason = withoutResult(board, run, place);
        }
        if (reason === ELIGIBLE) judged.push(place);
        else leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
      }
      const n = judged.length;
      const found = meanOf(board, judged, (place) => board.passed[run.code[place]]);
      const few = board.few[n] ?? "";
      const note = n ? few : `${whyUnjudged(leftOut, eligible)}; ${leftOutText(board, leftOut)}`;
      const cells = { ...scoreCells(found, n, few !== ""), ...testsCell(board, run, judged) };
      return { ...cells, eligible: number(eligible), note: { text: note } };
    });
  }

  /** Why no problem was judged, as eval/evaluation.py says it. */
  function whyUnjudged(leftOut, eligible) {
    const alone = leftOut.get(SAMPLES_ONLY) ?? 0;
    if (!alone) return "no problem was judged";
    if (alone === eligible) return "no score, since all eligible problems have sample tests only";
    return "no score, since no problem with tests beyond the samples was judged";
  }

  /** What the tests of these problems are, as eval/site/tests_told.py says it; no cell where there is no problem. */
  function testsCell(board, run, places) {
    if (run.imported) return { tests: { text: "not run here" } };
    if (!places.length) return {};
    const counted = board.origins.map((word, at) => [count(places, (place) => board.tests[place] === at + 1), word]);
    const told = counted.filter(([n]) => n).map((pair) => pair.join(" "));
    const sum = (at) => places.reduce((total, place) => total + (board.made.get(place)?.[at] ?? 0), 0);
    const strength = sum(0) ? `; made ones fail ${sum(1)}/${sum(0)} known-wrong` : "";
    return { tests: { text: told.join(", ") + strength } };
  }

  function leftOutText(board, counts) {
    const found = [...counts].map(([reason, count]) => [count, board.reasons[reason]]);
    found.sort(([n, one], [m, other]) => m - n || (one < other ? -1 : 1));
    if (!found.length) return "nothing left out";
    return `left out: ${found.map((pair) => pair.join(" ")).join(", ")}`;
  }

  /**
   * The runs that can be compared, on the problems that those under equal settings share: `rows` has the cells of
   * each run, `groups` what holds for each group. Without a bound the window follows the latest cut-off.
   */
  function common(board, window) {
    const isExplicit = window.since !== null || window.until !== null;
    const rest = standing(board, window);
    const rows = board.runs.map((run) => ({ note: { text: `not compared: ${whyRefused(run, isExplicit)}` } }));
    let kept = board.runs.filter((run) => whyRefused(run, isExplicit) === null);
    let eligible;
    let columns;
    for (;;) {
      const start = isExplicit ? -Infinity : Math.max(...kept.map((run) => run.start));
      eligible = [...rest.keys()].filter((place) => rest[place] === ELIGIBLE && board.at[place] >= start);
      columns = eligible.filter((place) => kept.some((run) => run.seen[place]));
      const heard = kept.filter((run) => columns.some((place) => run.seen[place]));
      if (!heard.length || heard.length === kept.length) break;
      // A run without a result here has nothing to compare, and its cut-off must not narrow the window of the others.
      for (const run of kept.filter((one) => !heard.includes(one))) {
        rows[board.runs.indexOf(run)].note.text = `not compared: ${whySilent(board, run, eligible)}`;
      }
      kept = heard;
    }
    const groups = [...new Set(kept.map((run) => run.group))].map((name) => {
      const members = kept.filter((run) => run.group === name);
      return commonGroup(board, window, members, columns, { eligible: number(eligible.length) }, rows);
    });
    return { rows, groups, eligible: eligible.length };
  }

  /** Why a run has no result that counts in the window, as eval/common_window.py says it. */
  function whySilent(board, run, eligible) {
    const isAlone = (place) => !run.imported && board.samplesOnly[place] && board.samples[run.code[place]] > 0;
    if (!eligible.some(isAlone)) return "no result in the window";
    const what = "it has results in the window on sample tests only, which count in no comparison";
    return `${what}: live tests build makes tests beyond the samples`;
  }

  const whyRefused = (run, isExplicit) => run.ambiguous ?? (isExplicit ? null : (run.refused ?? run.doubted));

  /** Why a run is not ranked: too many of its samples on these problems have no answer. Null for one that is. */
  function whyUnfit(board, run, columns) {
    let [failed, all] = [0, 0];
    for (const place of run.rare.size ? columns : []) {
      const [waiting, internal, older, unanswered] = run.rare.get(place) ?? [0, 0, 0, 0];
      failed += unanswered;
      all += board.samples[run.code[place]] + waiting + internal + older + unanswered;
    }
    if (!(failed > board.limits.failed * all)) return null;
    return `${failed} of ${all} samples have no answer (failed requests); live generate asks for them again`;
  }

  /** Fills the rows of the runs of a group, and says what holds for all of them. */
  function commonGroup(board, window, members, every, shared, rows) {
    const why = new Map(members.map((run) => [run, whyUnfit(board, run, every)]));
    const runs = members.filter((run) => why.get(run) === null);
    // What only imported results can be on is nothing that other runs lack.
    const isJudged = !board.counts_samples && !runs.some((run) => run.imported);
    const columns = isJudged ? every.filter((place) => board.scorable[place]) : every;
    const complete = columns.filter((place) => runs.every((run) => run.seen[place]));
    const n = complete.length;
    const note = board.few[n] ?? "";
    const contests = new Set(complete.map((place) => board.contest[place])).size;
    const group = { runs, problems: n, contests, exposed: [] };
    for (const run of members) {
      const place = board.runs.indexOf(run);
      rows[place] = { note: { text: why.get(run) === null ? note : `not compared: ${why.get(run)}` } };
      if (why.get(run) !== null) continue;
      const found = meanOf(board, complete, (column) => board.share[run.code[column]]);
      const exposed = run.after === null ? null : count(complete, (column) => board.at[column] < run.after);
      group.exposed.push(exposed);
      Object.assign(rows[place], shared, scoreCells(found, n, note !== ""), testsCell(board, run, complete));
      rows[place].lacks = number(count(columns, (column) => !run.seen[column]));
      if (exposed !== null) rows[place].exposed = number(exposed);
    }
    group.noRanks = whyUnranked(board, group) ?? fillRanks(board, window, runs, rows);
    return group;
  }

  const count = (places, isSuch) => places.reduce((found, place) => found + (isSuch(place) ? 1 : 0), 0);

  /** Puts ranks into the rows where they were computed for this window (null); "" where they were not. */
  function fillRanks(board, { since, until, platforms, difficulties }, runs, rows) {
    let found = "";
    for (const one of platforms || difficulties ? [] : board.ranked) {
      if (one.since !== since || one.until !== until) continue;
      for (const place of runs.map((run) => board.runs.indexOf(run))) {
        const [low, high, allLow, allHigh, tier] = one.ranks.subarray(5 * place, 5 * place + 5);
        if (!tier) continue;
        found = null;
        Object.assign(rows[place], { rank: range(low, high), rank_all: range(allLow, allHigh), tier: number(tier) });
      }
    }
    return found;
  }

  const range = (low, high) => ({ text: low === high ? `${low}` : `${low}–${high}`, value: low, high });

  /** Why nobody can be ranked on these problems, as eval/ranking.py and eval/freshness.py say it; null: they can be. */
  function whyUnranked({ limits }, { runs, problems, contests, exposed }) {
    const models = new Set(runs.map((run) => run.model)).size;
    if (models < limits.models) return `ranks need at least ${limits.models} models, there are ${models}`;
    if (problems < limits.common) return `ranks need at least ${limits.common} common problems, there are ${problems}`;
    if (contests < 2) return "ranks need problems of at least 2 contests, all are of one";
    const seen = runs.map((run, row) => ({ name: run.name, n: exposed[row] })).filter(({ n }) => n !== 0);
    if (!seen.length) return null;
    const worst = seen.reduce((most, one) => ((one.n ?? problems) > (most.n ?? problems) ? one : most));
    const what = worst.n === null ? "is not known to have a cut-off" : `may have seen ${worst.n}`;
    return `${seen.length} of ${runs.length} models may have seen problems (${worst.name} ${what}): use --after-cutoff`;
  }

  return { common, own, prepare };
})();
