"""Interpret the words around a score: numbers, clauses, a criterion's names and the words for its scores."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from coeval.llm.reading.cleanup import fold
from coeval.llm.reading.markup import strip_bullet

# Patterns of scores in words, and the words that distinguish a verdict from other numbers.

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_OF_TOP = (
    r"(?:(?:[ \t]+(?:points?|pts\.?|stars?)(?=[ \t(]))?[ \t]*[(\[]?[ \t]*"
    r"(?:/|out[ \t]+of\b(?:[ \t]+a[ \t]+(?:possible|maximum))?|(?:of|von|van|sur|su|de|af|av|из)\b|"
    r"(?<=[(\[])max(?:imum|\.)?(?::|[ \t]of\b)?|"
    r"on[ \t]+(?:an?|the)[ \t]+scale[ \t]+(?:of|from)[ \t]+\d{1,3}[ \t]*(?:-|–|to\b))"
    r"[ \t]*(?P<k>\d{1,9}(?:\.\d{1,9})?))?"
)
_NOT_MORE = (
    r"(?!\d|%|[½¼¾⅓⅔]|[ \t]*[+×][ \t]*\d|"
    r"[ \t]*(?:[-=]{1,2}>|>>|//|[→⇒≈])[^\d\n.!?]{0,40}\d|[ \t]*[,&][ \t]*\d+(?:\.\d+)?[ \t]*(?:$|\n)|"
    r"[ \t]+(?:\|[ \t]*)?[-−]?\d+(?:\.\d+)?[ \t]*(?:$|\n|\|)|[ \t]*[或到至][ \t]*\d|"
    r"[ \t]*[,(;.][ \t]*(?:or|no|non|nein|wait|actually|revised|then|now|sorry|"
    r"correct(?:ed|ion)|round(?:ed|ing)|make that|i mean\w?)\b[^\d\n.!?]{0,20}\d|"
    r"[ \t,]*\(?(?:[a-z]{1,9}[ \t])?(?:revised|changed|updated|corrected|adjusted|raised|lowered|"
    r"now)[ \t]+(?:to[ \t]+)?\d|"
    r"[$€£]|(?!pts?\b)[a-z]|[A-Z](?![a-z])|[.,:/]\d|['’]s\b|[ \t]+%|"
    r"[ \t]*[-–—~][ \t]*\d|[ \t]+(?:to|or|and)[ \t]+(?:an?[ \t]+)?\d|"
    r"[ \t,(]+(?:or[ \t]+)?(?:maybe|perhaps|possibly|arguably|even|bordering on|"
    r"leaning to(?:wards?)?)[ \t]+(?:an?[ \t]+)?\d)"
)
NUMBER = rf"(?<![\d.,/$€£#])(?<!\d[-−–—~])(?P<n>[-−]?(?:\d{{1,9}}(?:\.\d{{1,9}})?|\.\d{{1,9}})){_OF_TOP}{_NOT_MORE}"
ENDS = r"(?=[ \t]*(?:$|[\n.,;:!?)\]}\"'’”|(]|[-–—=][ \t]))"
_WORD_OF_TOP = r"(?:[ \t]+(?:stars?|points?))?(?:[ \t]+out[ \t]+of[ \t]+(?P<top>\w{1,9}))?"
TARGET = rf"(?:{NUMBER}|(?P<w>(?ai:{'|'.join(_WORDS)})\b(?!-)){_WORD_OF_TOP}{ENDS})"

FINAL = re.compile(
    r"\b(?:final(?:ly|i[sz](?:ed?|ing))?|overall|revised|updated|adjusted|corrected|amended|settled|total|"
    r"verdict|definitive|"
    r"ultimate(?:ly)?|concluding|last word)\b",
    re.I,
)
"""Words for a final score."""
EARLY = re.compile(
    r"\b(?:preliminary|initial(?:ly)?|tentative|provisional|draft|first|starting|original|rough|working|"
    r"interim|"
    r"previous|prior|earlier|old|quick|gut|pass[ \t]*(?:1|one)|before)\b",
    re.I,
)
"""Words for a score that is replaced later."""
FOREIGN = re.compile(
    r"\b(?:max(?:imum)?|min(?:imum)?|highest|lowest|top|best|worst|possible|confidence|certainty|"
    r"probability|weight|"
    r"potential|h.{1,2}chst\w*|vorherig\w*|vorl.{1,2}ufig\w*|满分|"
    r"threshold|scale|range|passing|needed|required|reference|gold|baseline|human|annotator'?s?|"
    r"author'?s?|user'?s?|"
    r"expected|target|normali[sz]ed|percent(?:age|ile)?|previous|prior|other|another|his|her|their|"
    r"reviewer'?s?|judge'?s?|rater'?s?|perfect|"
    r"(?!(?:it|that|here|what|let|text|story|answer|response|summary|output|sample|essay|item|dialogue|"
    r"conversation|translation|poem|article|criterion|aspect|student|candidate|assistant|model|system|bot|agent|"
    r"submission|document|report|letter|e-?mail|message|reply|post|comment|review|paper|caption|headline|passage|"
    r"paragraph|piece|work|argument|plan|speech|code)['’]s)[^\W\d_]{1,30}['’]s)\b",
    re.I,
)
"""Words for numbers other than this judge's score."""
_REMARK = re.compile(
    r"[(\[][^()\[\]]*\b(?:max|min|scale|range|of|possible|(?:low|high|b)est|worst)\w*\b[^()\[\]]*[)\]]", re.I
)


def is_foreign(label: str) -> bool:
    """Return whether a label belongs to a number that is not the score: true for "Max score", false for
    "Score (max. 5)".
    """
    return FOREIGN.search(_REMARK.sub("", label)) is not None


_OPENS = r"(?:^|[.!?:;()\[\]/\n–—-]|\b(?:but|so|and|yes|ok|okay|my|oh)\b)[\s\W_]{0,9}(?:my[ \t]+|the[ \t]+)?"
"""The start of a statement. In the middle of a statement, as in "it actually says", the word changes nothing."""
_HARD = r"too (?:harsh|generous|high|low|lenient|strict|kind|severe)"
CHANGE = re.compile(
    rf"{_OPENS}(?:wait|hold on|actually|finally|hmm+|sorry[,.!:]|oops|no[,.!]|no wait|instead|again|rather:|better:|"
    r"or rather|changed|correct(?:ion|ed|ing)|revis\w{1,6}|updat(?:e|ed|ing)|adjust\w{0,6}|amend\w{0,6}|edit(?:ed)?:)|"
    rf"(?:^|[.!?\n—–])[\s\W_]{{0,5}}{_HARD}|"
    rf"\b(?:that|this|i|score|rating|grade|which|these|\d|above)(?:['’](?:s|m)| (?:is|was|am|are|were|seems?|looks?))"
    rf" (?:\w{{1,8}} )?{_HARD}|"
    r"\b(?:reconsider\w*|(?:on|upon|after|in)[ \t](?:\w{1,10}[ \t])?reflection|second (?:thoughts?|look|reading|pass)|"
    r"(?:on|upon|after|with|at|taking)[ \t](?:a )?closer look|let me (?:re|think|correct|look|check|double)|"
    r"after (?:further|more|another|looking)|"
    r"re-?(?:read|evaluat|assess|examin|check|think|visit|calibrat|apprais)\w{0,6}|(?:look|check|think|read)ing again|"
    r"(?:look|check|think|read)ing at (?:it|this|that) again|"
    r"double.check\w*|on balance|scratch that|take (?:that|it) back|my mistake|i was wrong|"
    r"i(?:['’]ve| have| had|['’]d)?[ \t](?:also[ \t])?(?:missed|overlooked|misread|forgot\w*|overrated|underrated|"
    r"misjudged|(?:revis|chang|correct|adjust|updat|amend|lower|rais)\w{1,5})|"
    r"(?:chang\w{1,3}|revis\w{1,4}|correct\w{0,3}|adjust\w{0,3}|updat\w{1,3}|rais\w{1,3}|lower\w{0,3})"
    r"[ \t](?:it|this|that|these|my|to|one|the (?:score|rating|grade)|\w{1,7} (?:score|rating|line)s?)|"
    r"(?:that|this|it) (?:is|was|seems|overlook\w*|miss\w*) (?:not (?:quite )?(?:fair|right)|unfair|wrong|unjust))",
    re.I,
)
"""Words between a score and its replacement."""
_NOUN = (
    r"(?:[ \t]+\w{1,12}){0,2}[ \t)\]]*(?:[:：]|[ \t](?:form|scores?|ratings?|answer|evaluations?|verdicts?|"
    r"version|pass|judge?ments?|assessments?|impressions?|list|table|results?|round|take|thoughts?)\b|[*_#\s]*$)"
)
"""The words after "first" or "final" in a heading: "my final form", "First pass:"."""
_CALLS_FINAL = re.compile(FINAL.pattern + _NOUN, re.I)
CALLS_EARLY = re.compile(EARLY.pattern + _NOUN, re.I)


def replaces(words: str) -> bool:
    """Return whether the words between two statements say that the second replaces the first."""
    return CHANGE.search(words) is not None or _CALLS_FINAL.search(words) is not None


MAX_MATCHES = 60
"""Largest number of matches per rule, counted from the end. It bounds the time for hostile texts."""


@dataclass(frozen=True, slots=True)
class Query:
    """The context of a reading: the criterion's names, the scale and the folded prompt."""

    names: tuple[str, ...]
    high: float
    given: str = ""


@dataclass(frozen=True, slots=True)
class Stated:
    """A stated number (None if the text is not one number), the words before it, and the rule that read it."""

    score: float | None
    words: str
    rule: str = ""


def number_of(match: re.Match[str], high: float) -> float | None:
    """Return the matched number, or None if it is a fraction of anything but the top of the scale."""
    if match["w"]:
        top = match["top"]
        off = top and fold(top) not in (f"{high:g}", *(_WORDS[int(high) : int(high) + 1]))
        return None if off else float(_WORDS.index(match["w"].lower()))
    if match["k"] and float(match["k"]) != high:
        return None
    return float(match["n"].replace("−", "-"))


def settle_numbers(text: str, high: float) -> str:
    """Return the text with one number for each that is written twice or as a row of stars."""
    return _count_stars(_join_numerals(text), high)


def _join_numerals(text: str) -> str:
    """Return the text with "two (2)" and "2 (two)" as "2". Two different numbers become none.

    >>> _join_numerals("two (2) out of five (5), not 3 (four)")
    '2 out of 5, not …'
    """

    def join(match: re.Match[str]) -> str:
        word, digits = (match["word"] or match["word2"]).lower(), match["digits"] or match["digits2"]
        return digits if _WORDS.index(word) == int(digits) else "…"

    return _TWICE.sub(join, text)


def _count_stars(text: str, high: float) -> str:
    """Return the text with a row of filled and empty stars as a fraction, if the row is as long as the scale.

    A line with a number, or with two rows, stays as it is.

    >>> _count_stars("Score: ★★☆", 3), _count_stars("Score: ★★☆ (2/3)", 3)
    ('Score: 2/3', 'Score: ★★☆ (2/3)')
    """
    if not _STARS.search(text):
        return text
    lines = text.split("\n")
    for at, line in enumerate(lines):
        rows = list(_STARS.finditer(line))
        if len(rows) == 1 and not re.search(r"\d", line):
            full, empty = (len(rows[0][part].replace("\ufe0f", "")) for part in ("full", "empty"))
            if full + empty == high:
                lines[at] = f"{line[: rows[0].start()]}{full}/{high:g}{line[rows[0].end() :]}"
    return "\n".join(lines)


_NUMERAL = rf"(?ai:{'|'.join(_WORDS)})"
_TWICE = re.compile(
    rf"\b(?P<word>{_NUMERAL})[ \t]?[(\[](?P<digits>\d{{1,3}})[)\]]|"
    rf"(?<![\d.,/])(?P<digits2>\d{{1,3}})[ \t]?[(\[](?P<word2>{_NUMERAL})[)\]]"
)
_STARS = re.compile(
    r"(?<![★⭐\ufe0f])(?P<full>(?:[★⭐]\ufe0f?){1,20})(?P<empty>(?:[☆✩]\ufe0f?){1,20})(?![★⭐☆✩])"
)


def alternatives(names: tuple[str, ...]) -> str:
    """Return a pattern that matches any of these names, with any white space between words."""
    return "|".join(r"\s+".join(map(re.escape, name.split())) for name in names) or r"(?!)"


_BREAK = re.compile(
    r"[!?;\n]|\.(?!\d)|[,:—–]\s+(?=(?:but|so|and|yet|however|though|as|it|I|thus|hence|therefore|the|"
    r"this|its|my|we|earning|giving)\b)|\s(?:but|so|yet|whereas|while)\b"
)
_WHOLE = re.compile(
    r"\b(?:if(?!\s+i\s+(?:had|have|were|must|could)\b)|unless|were it|had it|(?:i|it|that)['’]d have|"
    r"had the|provided that|otherwise|"
    r"(?:previous|other|another|earlier|prior|first|second|human|fellow|former)\s+(?:judges?|raters?|"
    r"annotators?|reviewers?|"
    r"evaluators?|graders?|models?|people|readers?|critics?|person|assessors?|colleagues?|experts?)|"
    r"(?:^|[.:!?]\s)\W{0,3}to (?:earn|get|reach|deserve|score|receive)\b|"
    r"an?\s+(?:typical|average|usual|ordinary|common|better|stronger|weaker|similar|comparable|polished)\s+"
    r"(?:\w+\s+)?(?:answer|response|text|output|story|summary)s?|"
    r"(?:an?|one|those|something)\s[^.!?;\n]{0,100}(?<!that )would\s+(?:earn|get|receive|deserve|merit|score)\b|"
    r"others|(?:they|he|she|somebody|someone|nobody|customers|guests|visitors|users|people|readers|critics|some|many|most|one)\s+(?:would|"
    r"might|may|could|say|says|said|"
    r"claims?|gave|gives?|rated?|rates|scored?)|(?:the\s+)?(?:author|text|sample|story|user|owl|review|"
    r"writer|prompt|instructions?|letter|article|passage|document|e-?mail|advert\w*)\s+"
    r"(?:says?|said|claims?|gives?|gave|rates?|rated|states?|asks?|wants?|tells?|demands?|contains?|holds?)|"
    r"(?:reference|baseline|gpt\S{0,9}|(?:perfect|ideal|flawless|previous|prior|earlier|other)\s+(?:answer|response|"
    r"text|output|version|summary))(?:\s+(?:answer|text|output))?\s+(?:would\s+)?(?:gets?|got|rates?|rated|gives?|gave|scores?|scored|earns?|is|was)|"
    r"consider(?:ed|ing)[ \t]+(?:an?|it|giving|the)\b|tempt(?:ed|ing)|torn|hesitated?|was (?:going|settling|leaning)|"
    r"depend(?:s|ed|ing) on|"
    r"might|may|could|wanted|initially|at first|almost|nearly|not quite|originally|at best|at worst|"
    r"thought (?:about|of)|usually|typically|normally|would have)\b",
    re.I,
)
"""Words that show that no number in their clause is the model's own score."""
_BEFORE = re.compile(
    r"\b(?:not|never|cannot|refuse|decline|hesitate|reluctant|unable|neither|nor|doubt|than|instead of|between|"
    r"short of|at least|at most|up to|"
    r"shy of|close to|far from|away from|unlike|compared (?:with|to)|versus|vs|against)\b|n['’]t\b|"
    r"\b(?:above|below|beyond|under|over|or|not,[^.!?]*)[ \t]+(?:an?[ \t]+)?$",
    re.I,
)
"""Words after which the numbers in the same clause are not a verdict."""
_AFTER = re.compile(
    r"[\"'”’)]?[ \t]+(?:would|means?|requires?|is\s+(?:reserved|for|given|awarded|too)|indicates?|needs?|"
    r"stands|represents|being|"
    r"calls|implies|denotes|if|unless|seems?\s+(?:too|un))\b|\s*\?|\s*=",
    re.I,
)
_IF = re.compile(r"\b(?:if|unless)\b", re.I)
_SUPPOSED = re.compile(
    r"(?:^|[.!?;\n—–]|\b(?:but|and|so)[ ,])[^\w\n]{0,4}"
    r"(?:if(?! i (?:had|have|were|must|could) to\b)|had|were|unless|with|without|depending)\b"
    r"[^.!?;\n]{0,200},\s+$",
    re.I,
)
_WISHED = re.compile(
    r"^\W*(?:with|without|had|were)\b[^,]{0,200}\b(?:it|i|that|we)(?:['’]d|[ \t]+would)\b", re.I
)
_REPORTED = re.compile(
    r"\baccording to the (?:letter|text|sample|author|story|user|article|passage|document)\b[^.!?;\n]*$", re.I
)
_WOULD = re.compile(r"(?:it|i|this|that|we)(?:['’]d|[ \t]+(?:would|could|might))\b", re.I)
_ELSEWHERE = re.compile(r"\b(?:example|format|sample)\b|^\W*(?:with|without|if|had|unless|were)\b", re.I)
_REACH = 300


def clause_of(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the words of the span's clause before it, and those after it up to the end mark."""
    left = text[max(0, start - _REACH) : start]
    breaks = [found.end() for found in _BREAK.finditer(left)]
    before = left[breaks[-1] if breaks else 0 :]
    right = text[end : end + _REACH]
    stop = _BREAK.search(right)
    return before, right[: stop.end() if stop else len(right)]


def is_somebody_elses(text: str, start: int, end: int) -> bool:
    """Return whether a number's clause is conditional, reported, denied, a question or the meaning of a step."""
    before, _ = clause_of(text, start, end)
    if _WHOLE.search(before.lstrip() + text[start:end]) or _AFTER.match(text, end) or _WISHED.match(before):
        return True
    at = start - len(before)
    left = text[max(0, at - _REACH) : at]
    return bool(_WOULD.match(before) and _SUPPOSED.search(left) or _REPORTED.search(left + before))


def is_of_something_else(before: str) -> bool:
    """Return whether the words before a number in its sentence say that it is not the score of this criterion.

    It may be another person's, a wish, a limit or an example.
    """
    return any(words.search(before) for words in (_WHOLE, _BEFORE, FOREIGN, _ELSEWHERE))


def is_denied(text: str, start: int, end: int) -> bool:
    """Return whether the clause says that the number is not the score, or only in another case."""
    before, after = clause_of(text, start, end)
    return bool(_BEFORE.search(before) or _IF.search(after) or after.rstrip().endswith("?"))


# A criterion's wording contains its name, and sometimes words for its scores.

MAX_CRITERION = 5000
"""Number of a criterion's characters that are compared."""

MAX_NAME = 300
"""Longest text that counts as a criterion's name, in characters."""

_HEAD = re.compile(r"[^:：(\n–—]{1,80}?(?=\s*[:：(–—]|\s+-\s|\s*$)")
_LEGEND = re.compile(
    r"(?<![\d.])(?P<n>-?\d{1,4})\s*(?:=|:|\(|means|is|[-–—])\s*[\"'“]?(?P<word>[^\d,;.()=\"”\n]{1,60}?)\s*"
    r"(?=[\"'”]?\s*(?:[,;.)\n]|$))"
)
_REVERSED = re.compile(
    r"(?P<word>[^\W\d_][^\d,;.()=:：\n]{0,40}?)\s*(?:=\s*|\(\s*)(?P<n>-?\d{1,4})(?![\d.%])"
)


@lru_cache(maxsize=256)
def criterion_names(criterion: str) -> tuple[str, ...]:
    """Return the names under which an answer may state the criterion's rating, longest first.

    >>> criterion_names("Coherence (1-5): the collective quality of all sentences")
    ('Coherence (1-5): the collective quality of all sentences', 'Coherence')
    """
    text = strip_bullet(criterion[:MAX_CRITERION].strip())
    head = _HEAD.match(text)
    names = {head[0].strip()} if head else set()
    names |= {text.rstrip(".")} if len(text) <= MAX_NAME and len(text.split()) <= 20 else set()
    return tuple(sorted((name for name in names if re.search(r"[^\W\d_]", name)), key=lambda n: (-len(n), n)))


def names_criterion(words: str, names: tuple[str, ...]) -> bool:
    """Return whether the words are only a criterion's name."""
    return fold(words).strip(" .:") in {fold(name) for name in names}


def echoes_criterion(words: str, names: tuple[str, ...]) -> bool:
    """Return whether the words are the adjective of a criterion's name, as "natural" is of "naturalness"."""
    word = fold(words).strip(" .:")
    return len(word) > 3 and any(fold(name)[: len(word) - 1] == word[:-1] for name in names)


def anchors_of(criterion: str, low: float, high: float) -> dict[str, float]:
    """Return the folded words that the criterion's text gives to its scores, or {} unless there are at least two.

    >>> anchors_of("Naturalness: 1 = bad, 2 = OK, 3 = good", 1, 3)
    {'bad': 1.0, 'ok': 2.0, 'good': 3.0}
    """
    for pattern in (_LEGEND, _REVERSED):
        legend = {
            fold(match["word"]).strip(" '"): float(match["n"])
            for match in pattern.finditer(criterion[:MAX_CRITERION])
        }
        anchors = {word: score for word, score in legend.items() if word and low <= score <= high}
        if len(set(anchors.values())) > 1:
            return anchors
    return {}


def anchor_score(words: str, criterion: str, low: float, high: float) -> float | None:
    """Return the score of an answer that is only an anchor word, or None if the rubric does not define it."""
    anchors = anchors_of(criterion, low, high)
    if not anchors:
        return None
    answer = re.sub(r"^(?:rating|score|answer|response|[\w ]{1,30})\s*:\s*", "", fold(words)).strip(" .!'")
    return anchors.get(fold(words).strip(" .!'"), anchors.get(answer))
