"""Read scores without a label: "I would rate it a 4", "so it is a 2.", "4", "2. Somewhat", "Yes (1)", "3 out of 5"."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence

from coeval.llm.reading.cleanup import is_echo
from coeval.llm.reading.rating_labels import COUNTED, names_score
from coeval.llm.reading.rating_words import (
    ENDS,
    FOREIGN,
    MAX_MATCHES,
    NUMBER,
    TARGET,
    Query,
    Stated,
    alternatives,
    echoes_criterion,
    is_denied,
    is_somebody_elses,
    names_criterion,
    number_of,
    replaces,
)

RULE_SAID, RULE_BARE = "sentence", "bare number"

_GOES_ON = (
    r"(?:out|on|for|because|since|as|in|due|based|points?|stars?|to|would|and|if|given|with|but|"
    r"here|from|overall|rather than|instead of)"
)
_FITS = (
    r"(?:is|seems|feels|looks)[ \t]+(?:(?:\w{2,12}ly|more|most|therefore|thus|hence)[ \t]+)?"
    r"(?:appropriate|fair|right|justified|deserved|"
    r"warranted|fitting|apt|fairer|closer|better|"
    r"reasonable|suitable|correct|best|adequate|in[ \t]+order)"
)
_FOLLOWED = rf"(?:{ENDS}|(?=[ \t]+(?:{_GOES_ON}|{_FITS})\b))"
_VERBS = (
    r"(?:rated?|gives?|given|assign(?:ed|s)?|award(?:ed)?|deserves?|merits?|warrants?|receives?|gets?|"
    r"earn(?:s|ing)?|"
    r"(?:put(?:s|ting)?|mak(?:es?|ing)|call)[ \t]+(?:it|this|that|the \w{1,12})\b|leads?[ \t]+(?:me|us|it)?[ \t]?to|"
    r"decid(?:e|ed)[ \t]+(?:on|for)|opt(?:ed)?[ \t]+for|consider[ \t]+(?:it|this|that)\b|"
    r"lean(?:ing)?[ \t]+to(?:wards?)?|"
    r"say(?![ \t]+(?:to[ \t]+)?(?:rate|give|score|grade|mark|award|assign)\b)|"
    r"scor(?:es|ed|ing)|go(?:es|ing)? (?:with|for)|settl(?:ed?|ing) (?:on|for|at)|choose|pick|select|lands? (?:on|"
    r"at)|land on)"
)
_IS = r"(?:of|is|was|be|as|at|to|a|an|about|around|only)"
_SIDE = r"[^\d.\n!?;:]{0,80}?"
_COUNTS_WORD = re.compile(
    r"\b(?:an?|(?<!out )of|at|solid|strong|clear|(?:score|rating|grade)[ \t]+is)[ \t\"'“(]{1,3}$", re.I
)
_CONCLUDES = re.compile(
    r"\b(?:so|thus|therefore|hence|overall|in sum|in total|all in all|in the end|final(?:ly)?|"
    r"ultimately|conclude|settle|"
    r"on balance|as it stands|altogether|in conclusion|to sum up|all things considered|consequently|"
    r"accordingly)\b",
    re.I,
)


def said(text: str, query: Query) -> Stated | None:
    """Return the number in "a score of 4", "I would rate it a 4", "its coherence is a 4", "so it is a 4.".

    Numbers that are conditional, denied or another person's do not count. Of several, the concluding one counts.
    """
    found = sorted(_said(text, query), key=lambda pair: pair[0].end())
    if not found:
        return None
    last, score = found[-1]
    others = [match for match, other in found if other != score]
    if others and not _concludes(text, last, others[-1]):
        return Stated(None, "several numbers that differ")
    return Stated(score, last[0], RULE_SAID)


_DEDUCTS = re.compile(
    r"\b(?:los(?:es?|t|ing)|deduct\w*|subtract\w*|minus|tak(?:es?|ing)[ \t]+off|docked?)\b", re.I
)
_POINTS = re.compile(r"[ \t]+points?\b", re.I)


def _said(text: str, query: Query) -> Iterator[tuple[re.Match[str], float]]:
    deducts = _DEDUCTS.search(text) is not None
    names = alternatives(query.names)
    patterns = (
        rf"\b(?:scores?|rating|rate|grade|mark|verdict|result|(?:my|final) answer|"
        rf"{names})\b{_SIDE}\b{_IS}\b[ \t\"'“(]{{1,3}}{TARGET}{_FOLLOWED}",
        rf"\b{_VERBS}\b{_SIDE}[ \t\"'“(]{{1,3}}{TARGET}{_FOLLOWED}",
        rf"\ban?[ \t]+(?:solid|strong|clear|firm|high|low|weak)[ \t]+{TARGET}{_FOLLOWED}",
        rf"(?:^|[.!?,;:—–]|\b(?:is|be|it['’]s|so|no|rather|but|as|merely|just|thus|hence|therefore|only|"
        rf"still|clearly|yes|yet|like|"
        rf"probably|definitely)\b)[ \t,:]{{0,4}}\ban?[ \t]+{TARGET}(?:{ENDS}|(?=[ \t]+(?:than|from|"
        rf"for|{_FITS})\b))",
        rf"\b(?:so|thus|therefore|hence)[ \t,:]{{1,3}}{TARGET}{ENDS}",
        rf"\bbut[ \t]+{TARGET}(?=[ \t]+{_FITS}\b)",
    )
    for pattern in patterns:
        for match in deque(re.finditer(pattern, text, re.I | re.M), MAX_MATCHES):
            score = number_of(match, query.high)
            at = _at(match)
            if match["w"] and not match["top"] and not _COUNTS_WORD.search(text[max(0, at - 20) : at]):
                continue  # "give them one" states no score
            if deducts and _POINTS.match(text, match.end()):
                continue  # "it gets 2 points for clarity and loses 1 point for length" is a tally
            if (
                score is not None
                and not is_echo(match[0], query.given)
                and not is_somebody_elses(text, at, match.end())
                and not is_denied(text, at, match.end())
            ):
                yield match, score


def _at(match: re.Match[str]) -> int:
    """Return the start of a match's number."""
    return match.start("w") if match["w"] else match.start("n")


def _concludes(text: str, last: re.Match[str], other: re.Match[str]) -> bool:
    """Return whether the last of two different numbers is the conclusion, or replaces the other one."""
    between = text[other.end() : last.end()]
    return _CONCLUDES.search(between) is not None or replaces(between)


# --- bare numbers -----------------------------------------------------------------------------------------

_WHOLE = re.compile(rf"\W*?{TARGET}\W*")
_NUMBERED = re.compile(r"^[^\w\n]{0,4}(\d{1,4})[ \t]*(?:[.):=-]|$)", re.M)
_LEGEND = re.compile(r"(?<![\d.])(\d{1,4})[ \t]*(?:\([^\W\d]|[=:-][ \t]*[^\W\d])")
_AFTER_MARKER = re.compile(rf"(?:(?P<label>[^\W\d][^\d\n:：]{{0,40}})[:：][ \t]*)?{TARGET}\W*")
_MARKER = re.compile(r"[^\w\n]{0,4}\d{1,3}[.)][ \t]+")
_LEADING = re.compile(rf"(?:[-•][ \t]+)?[^\w\n-]{{0,4}}{TARGET}")
_SEPARATED = re.compile(r"[ \t]*(?:[.:：)\]\-–—,(=;]|$)|[ \t]+(?=[A-Z])|[ \t]+(?:because|since|as)\b")
_BRACKETED = re.compile(rf"(?:^|[.!?\n\w][ \t]+)\([ \t]*{TARGET}[ \t]*\)\W*$", re.M)
_ONE_LINE = re.compile(rf"\W{{0,4}}[^\W\d][^\d\n:：=]{{0,60}}[:：=][ \t]*{TARGET}{ENDS}")
_OUT_OF = re.compile(
    rf"{NUMBER}(?P<w>(?!))?(?![ \t]+(?!(?:stars?|points?|punkten?|for|because|since|as|in|on|overall|from|here|"
    rf"and|but|with)\b)[a-z])",
    re.I,
)
_CLOSING = re.compile(
    rf"(?:^(?:[^\W\d]+[ \t]+){{0,2}}|(?:[.!?:]|(?<!\d)(?<!\d[ \t])[–—])[ \t]+|(?<!\d),[ \t]+|"
    rf"\b(?:so|thus|hence)[ \t,:]+){TARGET}\W*$"
)
_SHORT_LABEL = re.compile(r"([^\W\d_][\w'’-]*(?:[ \t]+[\w'’-]+){0,4})[ \t]*[:：=][ \t(\[]*$")
_FOREIGN_LABEL = re.compile(rf"{FOREIGN.pattern}[^\d.\n]{{0,20}}\b(?:score|rating|grade)s?\W*$", re.I)
_COUNT = re.compile(
    r"(?<![^\W_])(?:confidence|certainty|penalt(?:y|ies)|deductions?|deducted|lost|errors?|mistakes|issues|weight|max|min|"
    r"potential(?=[ \t]+(?:score|rating|grade))|expected|target|passing|previous|prior|maximum|minimum|"
    r"h.{1,2}chst\w*|vorherig\w*|满分|"
    r"pages?|steps?|items?|attempts?|rounds?|runs?|versions?|counts?|numbers?|ids?|tokens|time|claims|words|"
    r"sentences|criterion|sample|evaluation)(?![^\W_])[^\d.!?\n]{0,30}$",
    re.I,
)
"""Words before a number of something else."""
_LABELLED_NUMBER = re.compile(r"[:：=][ \t]*\d")
_PRAISE = re.compile(r"(?:very |highly )?(?:yes|good|great|excellent|perfect|high|interesting)", re.I)


def _is_count(before: str) -> bool:
    """Return whether the words before a number count or number something else."""
    return any(found.search(before.replace("_", " ")) for found in (_COUNT, _FOREIGN_LABEL))


def bare(text: str, query: Query) -> Stated | None:
    """Return the only number in an answer that has no word for the score. Two different numbers are no score."""
    whole = _WHOLE.fullmatch(text)
    if whole:
        return Stated(number_of(whole, query.high), text, RULE_BARE)
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(set(_NUMBERED.findall(text))) > 1 or len(set(_LEGEND.findall(text))) > 1:
        return Stated(None, "a list of several items")
    return (
        _leading(lines, query)
        or _agreed(_BRACKETED, text, query)
        or _one_line(lines, query)
        or _agreed(_OUT_OF, text, query, fraction=True)
        or _closing(lines, query)
    )


def _leading(lines: Sequence[str], query: Query) -> Stated | None:
    """Return the number that begins the answer, unless it only numbers a label, a question or the criterion's name."""
    if not lines:
        return None
    marker = _MARKER.match(lines[0])
    second = _AFTER_MARKER.fullmatch(lines[0], marker.end()) if marker else None
    if second and second["label"] and not _is_labelled(lines[0][: _at(second)], second, query):
        return None
    match = second or _LEADING.match(lines[0])
    score = number_of(match, query.high) if match else None
    if match is None or score is None:
        return None
    rest = lines[0][match.end() :]
    words = rest.strip(" \t.:)-–—,(")
    if words.endswith("?") or (rest and not _SEPARATED.match(rest) and len(words.split()) > 3):
        return None
    if not second and COUNTED.match(rest) or is_somebody_elses(lines[0], _at(match), match.end()):
        return None
    numbered = rest.lstrip()[:1] in (".", ")") and _only_numbers(words, score, query)
    return Stated(None if numbered else score, lines[0], RULE_BARE)


def _only_numbers(words: str, score: float, query: Query) -> bool:
    """Return whether the number before these words only numbers an item: a label, or praise that it contradicts."""
    if names_criterion(re.split(r"[:(]", words)[0], query.names) and not re.search(r"\d", words):
        return True
    praised = echoes_criterion(words, query.names) or _PRAISE.fullmatch(words)
    return bool(praised) and score != query.high


def _one_line(lines: Sequence[str], query: Query) -> Stated | None:
    """Return the number after any label in a one-line answer."""
    match = _ONE_LINE.match(lines[0]) if len(lines) == 1 and not lines[0].endswith("?") else None
    if match is None or _is_count(lines[0][: _at(match)]) or len(_LABELLED_NUMBER.findall(lines[0])) > 1:
        return None
    if not _is_labelled(lines[0][: _at(match)], match, query):
        return None
    return Stated(number_of(match, query.high), lines[0], RULE_BARE)


def _is_labelled(before: str, match: re.Match[str], query: Query) -> bool:
    """Return whether the short label before a number, if any, fits a score. "Strengths: 4" does not."""
    label = _SHORT_LABEL.search(before)
    score = number_of(match, query.high)
    return label is None or score is None or names_score(label[1], score, query)


def _agreed(pattern: re.Pattern[str], text: str, query: Query, *, fraction: bool = False) -> Stated | None:
    matches = [
        match
        for match in deque(pattern.finditer(text), MAX_MATCHES)
        if (match["k"] or not fraction)
        and not _is_count(before := text[text.rfind("\n", 0, _at(match)) + 1 : _at(match)])
        and _is_labelled(before, match, query)
        and not is_echo(match[0], query.given)
        and not is_somebody_elses(text, _at(match), match.end())
        and not is_denied(text, _at(match), match.end())
    ]
    scores = {score for match in matches if (score := number_of(match, query.high)) is not None}
    if len(scores) > 1:
        return Stated(None, "several numbers that differ")
    return Stated(scores.pop(), text[:80], RULE_BARE) if scores else None


def _closing(lines: Sequence[str], query: Query) -> Stated | None:
    line = lines[-1][-200:] if lines else ""
    match = None if line.endswith("?") else _CLOSING.search(line)
    if len(_LABELLED_NUMBER.findall("\n".join(lines))) > 1:
        return None  # several labels, none of them a word for the score
    if match is None or is_denied(line, _at(match), match.end()) or _is_count(line[: _at(match)]):
        return None
    if not _is_labelled(line[: _at(match)], match, query):
        return None
    return Stated(number_of(match, query.high), match[0], RULE_BARE)
