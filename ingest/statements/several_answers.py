"""Whether a sentence says that several answers are right: any of them, or the same ones in any order. Pure.

"Any" and "in any order" mostly stand in stories, inputs and operations. What counts is an order to the program, so the
words between it and "any" are looked at as well: "print the number of ways to take them in any order" has one answer.
Sentences come in lower case and without marks (``ingest.statements.sentences.Sentence.plain``).
"""

from __future__ import annotations

import re

from ingest.statements.sentences import any_of

_Found = re.Match[str] | None

# Orders to a program. A function returns its answer; in the story of another problem all kinds of things are returned.
_PROGRAM = r"(?:print|output|display|report|construct|provide|find)(?:s|ed|ing|ted|ting)?"
_FUNCTION = r"(?:print|output|return)(?:s|ed|ing|ted|ting)?"
_ANSWERS = r"(?:answers?|solutions?|outputs?|responses?|results?)"
_OF_THEM = r"of (?:them|these|those)"
_JUDGED_RIGHT = r"(?:considered|judged|treated|regarded|counted|deemed)(?: as| to be)?(?: an?)? (?:correct|valid|right)"

# "print any", but not "print any extra spaces", and not where something denies or doubts it.
_ANY_IN_FUNCTION = re.compile(rf"\b{_FUNCTION} (?:out )?any\b")
_ANY_IN_PROGRAM = re.compile(rf"\b{_PROGRAM} (?:out )?any\b")
_ANY_ELSE = any_of(
    r" (?:extra|additional|other|number of|amount|more|further|leading|trailing|debug|messages?|information)\b",
    r" (?:white|spaces?|newlines?|line breaks?|letter|characters?|text|order|way|case|point|time)\b",
)
_DOUBT = any_of(
    r"(?:\b(?:not|never|without|cannot|avoid|if|when|whether)\b|n't\b)[^,;:]{0,30}$",
    r"\b(?:unable|impossible|possible|able|fails?|failed|no need) to\b[^,;:]{0,30}$",
    r"\bcan (?:he|she|they|we|it|you)\b[^,;:]{0,30}$",
)

# "If there are several ..., print any of them".
_SEVERAL = any_of(
    r"\b(?:if|when|in (?:the )?case|should there|where|since|because|as|note)\b.{0,60}"
    r"\b(?:multiple|several|many|more|more than one|two or more|various|numerous|different|not unique|non-unique)\b",
    r"^(?:multiple|several|many) \w+.{0,40}\b(?:exist|possible|correct|valid)",
    rf"\b(?:there|may|might|can|could)(?: are| be| exist)? (?:multiple|several|many|more than one) (?:\w+ )?{_ANSWERS}",
)
_PERMISSION = re.compile(
    r"\b(?:print|output|display|report|return|write|give|show|submit|provide)(?:ing|ting)?\b(?P<between>.{0,50}?)"
    rf"\b(?:any\b|(?:an? )?arbitrary\b|one (?:{_OF_THEM}|of the|of your)\b"
    rf"|either(?: one)?(?: {_OF_THEM})?(?=\s*(?:[.,;)]|$)))"
)
_ANSWER = re.compile(rf"\b{_ANSWERS}\b")
_CHOICE = re.compile(
    r"\b(?:choose|select|pick|find|use|take|answer|consider|determine)\b.{0,30}"
    rf"\b(?:any\b|an? arbitrary\b|one {_OF_THEM}\b)"
)
_PERMITTED = any_of(
    rf"\b(?:any|either|all)\b.{{0,60}}\b(?:accept(?:ed|able|s)?|{_JUDGED_RIGHT})\b",
    r"\bany\b.{0,40}\b(?:may|can|could|should|will|must) be (?:printed|output(?:ted)?|returned|reported)\b",
    r"\b(?:do|does)(?:n't| not) matter (?:which|what)\b.{0,60}\b(?:print|output|return|report)",
)
_PERMITTED_ANSWER = re.compile(
    r"\b(?:any|either)\b.{0,40}\b(?:(?:be|is|are) (?:correct|allowed|ok(?:ay)?|fine|valid|sufficient|enough)"
    r"|will do|suffices?)\b"
)
_NARROWED = any_of(
    r"\b(?:if|whether|when|for|number|count|total|sum|min|max|first|last|least|most|lexicographic\w*)\b",
    r"\b(?!test|request|interest|guest|forest|rest|digest|suggest|quest|west)\w+(?:est|imal|imum)\b",
)

# "Any such answer is accepted".
_SUCH_ACCEPTED = re.compile(
    rf"\bany (?:(?:\S+ ){{0,3}}?(?:{_ANSWERS}|{_OF_THEM}|sequences?|permutations?|arrays?|strings?|ways?|such|valid)"
    r"|(?:\S+ ){1,4}?(?:satisfying|meeting|(?:that|which) (?:satisf\w+|meets?)))\b.{0,100}"
    rf"\b(?:accepted|acceptable|{_JUDGED_RIGHT})\b"
)

# "in any order".
_ORDER = any_of(
    r"\b(?:in|an) (?:any|arbitrary|whatever|whichever)(?: possible| arbitrary)? order\b", r"\bin any sequence\b"
)
_ORDERED_BY_PROGRAM = any_of(
    r"\b(?:print|output|display|report|enumerate|construct|provide)(?:s|ed|ing|ted|ting)?\b|\blisted\b",
    r"(?:^|[,;:] |\b(?:can|may|should|must|to|then) )list\b",
    r"\banswers? (?:can|may|could) be\b",
)
_ORDERED_BY_FUNCTION = any_of(rf"\b{_FUNCTION}\b", r"\b(?:answers?|results?|lists?) (?:can|may|could) be\b")
_OF_SOMETHING_ELSE = any_of(
    r"\b(?:number of|count|minimum|maximum|min|max|sum|total|whether|if|when|after|before|times|by \w+ing|obtained)\b",
    r"\b(?:operations?|moves?|perform\w*|process\w*|appl(?:y|ied|ying)|visit\w*|choos\w*|select\w*|swap\w*)\b",
    r"\b(?:rearrang\w*|reorder\w*|permut(?:e|ed|ing)|concatenat\w*|using|us(?:e|ed)|taking|joining|forming|playing)\b",
    r"\b(?:formed|made|built) (?:by|from|out of|of|with)\b|\bbe (?:formed|made|built|taken)\b",
    r"\b(?:given|listed|described) $",
)
_FREE_ORDER = any_of(
    r"\border\b.{0,80}\b(?:do|does|is|are)(?:n't| not) (?:matter|important|relevant|checked)\b",
    r"\border\b.{0,40}\b(?:is|may be|can be) (?:arbitrary|irrelevant|free|any)\b",
)
_OUTPUT_OF_FUNCTION = re.compile(r"\b(?:print|output|return|answer)")
_OUTPUT_OF_PROGRAM = re.compile(r"\b(?:print|output|answer)")

_CUSTOM_JUDGE = re.compile(r"\bcustom judge\b")
_SEVERAL_JAPANESE = r"(?:複数|いくつか|何通りか|[2２二]\s?(?:つ|通り)以上)"
_JAPANESE = any_of(
    rf"{_SEVERAL_JAPANESE}.{{0,50}}(?:どれ|いずれ|どの|任意|ひとつ|一つ|[1１]\s?つ).{{0,30}}"
    r"(?:出力|表示|正解|正答|構い|構わ|かまい|かまわ|よい|良い|許容|認め)",
    r"(?:どれ|いずれ|どの(?:答え|解|もの|方法))(?:か)?(?:\s?[1１一])?(?:\s?つ)?を出力し(?:ても|てよい|て構)",
    r"どれでも(?:正解|よい|良い|構|かまわ)",
    r"(?:任意の|いずれか|どれか)\s?(?:解|もの|答え|[1１一]\s?つ|ひとつ).{0,10}出力",
)
_ORDER_JAPANESE = any_of(
    r"(?:出力|答え|解答|列挙).{0,30}(?:順序|順番|並び順)(?:は|を)?.{0,10}(?:問い?わ?(?:ません|ない|ず)|任意|自由|[構か]ま?いません)",
    r"(?:順序|順番)(?:は|を)?(?:問わず|問わない|任意|自由).{0,20}(?:出力|列挙)",
    r"任意の順(?:序|番)?(?:で|に).{0,12}(?:出力|列挙)|順不同",
)
_NOT_OUTPUT_JAPANESE = re.compile(r"与えられ|操作")
_ANY_RUSSIAN = r"люб(?:ой|ое|ую|ые|ого|ых)\b"
_RUSSIAN = any_of(
    r"(?:нескольк|много|(?:больше|более) одного|не единствен).{0,100}"
    rf"(?:{_ANY_RUSSIAN}|один из|одну из|одно из|произвольн)",
    rf"(?:выведите|вывести|выводите|найдите|укажите|напечатайте) (?:\S+ ){{0,2}}{_ANY_RUSSIAN}",
    r"(?:вывед\w+|вывод\w+|вывест\w+|напечата\w+|перечисл\w+)"
    r"(?:(?!количеств|минимальн|максимальн|операци).){0,120}в (?:любом|произвольном) порядке",
)

# What only lets one think so.
_ONE_SUCH = re.compile(
    r"\b(?:print|output|display|return|show|report)(?:ing)?\b(?: (?:yes|possible) (?:and|followed by))? "
    r"(?:one (?:way|such|example|possible|valid|suitable|feasible|solution|arbitrary)\b|an (?:example|arbitrary)\b"
    r"|(?:an?|one) (?:possible|valid|suitable|feasible|correct) \w+|a way to\b|such an? \w+"
    r"|an? \w+(?: \w+)? (?:that|which) (?:satisf|fulfil|meet)\w+"
    r"|an? \w+(?: \w+)? (?:satisfying|fulfilling|meeting) (?:all|the|these))"
)
_ONLY_ONE_SUCH = re.compile(r"\b(?:lexicographic\w*|smallest|largest|unique(?:ly)?|number of|how many|whether|true)\b")
_ALSO = re.compile(
    rf"\b(?:also|other|another|different)\b.{{0,60}}\b(?:accepted|acceptable|{_JUDGED_RIGHT}"
    rf"|(?:correct|valid) (?:answer|output|solution)s?)\b"
)
_UNIQUE = any_of(
    rf"\b(?:{_ANSWERS}|such \w+)\b.{{0,60}}\b(?:is|are|be) (?:always )?(?:unique|uniquely|determined uniquely)",
    r"\b(?:exactly|only) one (?:valid |possible |correct )?(?:answer|solution|output)\b",
    r"\bunique (?:answer|solution)\b|\buniquely determined\b",
    r"一意に(?:定ま|決ま)|единственн\w+ (?:ответ|решени)",
)


def says_several_answers(plain: str, *, is_call: bool, is_output: bool) -> _Found:
    """Where the sentence says that more than one answer is right; None if it does not.

    ``is_call`` is for problems that ask for a function. ``is_output`` says that the sentence stands in the part about
    the output, where no verb has to say what is in any order.
    """
    found = _any(plain, is_call=is_call) or _one_of_several(plain) or _SUCH_ACCEPTED.search(plain)
    found = found or _in_any_order(plain, is_call=is_call, is_output=is_output) or _free_order(plain, is_call=is_call)
    return found or _CUSTOM_JUDGE.search(plain) or _in_other_languages(plain)


def hints_at_several_answers(plain: str, *, is_lenient: bool) -> _Found:
    """Where the sentence lets one think so: it counts unless the statement says that the answer is unique.

    ``is_lenient`` says that the statement sets a tolerance or the letter case free: a remark that another output would
    be accepted as well is about that.
    """
    found = _ONE_SUCH.search(plain)
    if found and not _ONLY_ONE_SUCH.search(plain):
        return found
    return None if is_lenient else _ALSO.search(plain)


def says_unique_answer(plain: str) -> bool:
    """Whether the sentence says that there is only one answer."""
    return _UNIQUE.search(plain) is not None


def _any(plain: str, *, is_call: bool) -> _Found:
    for found in (_ANY_IN_FUNCTION if is_call else _ANY_IN_PROGRAM).finditer(plain):
        if not _ANY_ELSE.match(plain, found.end()) and not _DOUBT.search(plain, 0, found.start()):
            return found
    return None


def _one_of_several(plain: str) -> _Found:
    several = _SEVERAL.search(plain)
    if several is None:
        return None
    for found in _PERMISSION.finditer(plain, several.start()):
        if not _NARROWED.search(found["between"]) and not _ANY_ELSE.match(plain, found.end()):
            return found
    permitted = _PERMITTED.search(plain, several.end())
    if permitted is None and _ANSWER.search(plain, several.start(), several.end() + 40):
        permitted = _CHOICE.search(plain, several.end()) or _PERMITTED_ANSWER.search(plain, several.end())
    return permitted


def _in_any_order(plain: str, *, is_call: bool, is_output: bool) -> _Found:
    verb = _ORDERED_BY_FUNCTION if is_call else _ORDERED_BY_PROGRAM
    for found in _ORDER.finditer(plain):
        verbs = list(verb.finditer(plain, 0, found.start()))
        ordered = plain[verbs[-1].end() if verbs else 0 : found.start()]
        if (verbs or is_output) and not _OF_SOMETHING_ELSE.search(ordered):
            return found
    return None


def _free_order(plain: str, *, is_call: bool) -> _Found:
    if not (_OUTPUT_OF_FUNCTION if is_call else _OUTPUT_OF_PROGRAM).search(plain) or _OF_SOMETHING_ELSE.search(plain):
        return None
    return _FREE_ORDER.search(plain)


def _in_other_languages(plain: str) -> _Found:
    japanese = _JAPANESE.search(plain) or _ORDER_JAPANESE.search(plain)
    if japanese and not _NOT_OUTPUT_JAPANESE.search(plain):
        return japanese
    return _RUSSIAN.search(plain)
