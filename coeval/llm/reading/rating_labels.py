"""Read scores after a label: "Rating: 4", "Final score - 3", "Clarity: 2". If there are several, the last one counts.

A model may give a first score and then a final one, score several criteria in one answer, or change its mind. Two
different scores are no score, unless a sign says that the second replaces the first.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os.path import commonprefix

from coeval.llm.reading.cleanup import fold, is_echo
from coeval.llm.reading.rating_words import (
    CHANGE,
    EARLY,
    ENDS,
    FINAL,
    MAX_MATCHES,
    TARGET,
    Query,
    Stated,
    alternatives,
    is_foreign,
    is_somebody_elses,
    number_of,
)

RULE_LINE, RULE_INLINE = "labelled line", "label in a sentence"

_TARGET = re.compile(TARGET)
_ENDS = re.compile(ENDS)
_STRONG = (
    r"(?:ratings?|scores?|grade|verdict|final[ \t]+(?:answer|output|evaluation|result|judge?ment)|bewertung|"
    r"punktzahl|note|nota|punteggio|valutazione|puntuaci[oó]n|calificaci[oó]n|pontuação|ocena|hodnocení|"
    r"cijfer|betyg|poäng|karakter|puan|nilai|điểm|оценка|оцінка|балл|评分|評分|得分|分数|评级|評価|点数|スコア|점수|평점)"
)
_WEAK = r"(?:answer|response|evaluation|result|judge?ment|overall|final|total|conclusion)"
_STRONG_WORDS = frozenset({"rating", "ratings", "score", "scores", "grade", "verdict"})
_ITEM_NUMBER = r"(?:[ \t]*#?\d{1,4}(?=[ \t]*[:：][ \t]*\d))?"
_JOIN = (
    r"(?P<join>[^\d\n:：=|>.!?]{0,60}?(?P<mark>[:：=|→>])|[ \t]*[-–—](?=[ \t])|[ \t]*(?=[\d(])|"
    r"[ \t]*(?=\n\W{0,20}\d))"
)
_GAP = re.compile(r"(?:[\s|\"'“‘(\[{:：=•→⭐★☆]|[-–—](?!\d))*")
_PHRASE = re.compile(
    rf"(?!(?:see|n/?a|no|none|unknown|pending)\b)[^\d\n:.]{{1,60}}?[(\[,=–-][ \t]*{TARGET}{ENDS}"
)
_EMPTY_LABEL = r"(?:rationale|analysis|answer|score|rating|reason|explanation|evaluation)"
_QUALIFIER = re.compile(r"[^\W\d_][\w '’-]{0,38}[:：]?[ \t]$")
COUNTED = re.compile(
    r"[ \t]+(?!(?:out|of|on|for|because|since|as|in|points?|stars?|to|and|if|with|but|here|overall)\b)[a-z]"
)
_HEADING = re.compile(r"^[^\w\n]{0,9}(?P<words>[^\W\d_][\w /'-]{0,40}?)[^\w\n]{0,4}[:：][^\w\n]{0,4}$", re.M)
_PARTS = re.compile(
    r"rational\w*|analys\w*|explanation|reason\w*|(?:\w+ )?(?:ratings?|scores?|answer|evaluation|"
    r"judge?ment|verdict|form)|"
    r"justification|evidence|conclusion|feedback|comments?|summary",
    re.I,
)
_LEADS = re.compile(
    rf"{FINAL.pattern}|{EARLY.pattern}|my|the|a|own|so|thus|hence|therefore|and|here|is|new|given|"
    rf"assigned|proposed|numerical|agreed|resulting|combined|consensus|suggested|assistant|inst|"
    r"step|quality|rating|score|answer|conclusion|verdict|result|evaluation|for|of",
    re.I,
)
"""Words that may come before a label at the start of a line."""
MAX_LEAD = 120
"""Characters that may come before a label at the start of a line."""
_LABEL = re.compile(r"\b(?:scores?|ratings?)\b", re.I)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A number after a label, with the words before the label that qualify it: "final", "my first"."""

    stated: Stated
    cue: str
    qualifier: str
    start: int
    end: int
    echo: bool
    line_start: bool

    @property
    def called(self) -> str:
        return f"{self.qualifier} {self.cue}"


def labelled(text: str, query: Query, *, whole: bool = True) -> Stated | None:
    """Return the score after "Rating:", "Score:" or the criterion's name, or else after "Answer:" or "Overall:".

    If the answer is not ``whole``, only labels at the start of a line count, and preliminary scores do not.
    """
    names = alternatives(query.names)
    skip = re.compile(rf"(?:{_EMPTY_LABEL}|{names})[ \t]*[:：]", re.I)
    strong = re.compile(rf"(?<!\w)({_STRONG}|{names})(?!\w){_ITEM_NUMBER}{_JOIN}", re.I)
    weak = re.compile(rf"\b({_WEAK})\b{_ITEM_NUMBER}(?P<join>[ \t]*(?P<mark>[:：=]))", re.I)
    for cue, alone in ((strong, False), (weak, True)):
        candidates = list(_after_cues(cue, skip, text, query, alone=alone))
        if not whole:
            candidates = [one for one in candidates if one.line_start and not EARLY.search(one.qualifier)]
        stated = _choose(candidates, text, query)
        if stated is not None and (stated.score is not None or not alone):
            return stated
        if stated is not None and len({candidate.stated.score for candidate in candidates} - {None}) > 1:
            return stated
    return None


def _after_cues(
    cue: re.Pattern[str], skip: re.Pattern[str], text: str, query: Query, *, alone: bool
) -> Iterator[Candidate]:
    own = {word for name in query.names for word in _letters(name)}
    for match in deque(cue.finditer(text), MAX_MATCHES):
        at = _skip_gap(text, match.end(), skip)
        target = _TARGET.match(text, at) or _PHRASE.match(text, at)
        if target is None:
            end, score = at + 1, None
            if not text[at:end].isdecimal():
                continue
        else:
            end, score = target.end(), number_of(target, query.high)
            counts = not match["mark"] or fold(match[1]) not in _STRONG_WORDS
            if counts and COUNTED.match(text, end) and not target["k"]:
                continue  # "Clarity: 2 sentences are long" counts sentences
            if (
                (alone or not match["mark"])
                and not _ENDS.match(text, end)
                or _begins_list(text, target.start(), end)
            ):
                continue
        words = text[match.start() : end]
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        qualifier = _QUALIFIER.search(before[-60:])
        said = fold(qualifier[0]) if qualifier else ""
        is_key = text[match.start() - 1 : match.start()] == '"' and match["join"].startswith('"')
        others = not is_key and is_somebody_elses(text, match.start(), end)
        if is_foreign(said) or is_foreign(match["join"]) or others:
            continue
        at_start = len(before) <= MAX_LEAD and all(
            word in own or _LEADS.fullmatch(word) for word in _letters(before)
        )
        yield Candidate(
            Stated(score, words, RULE_LINE if at_start else RULE_INLINE),
            fold(match[1]),
            said,
            match.start(),
            end,
            is_echo(words, query.given) and not _is_introduced(said, words, query),
            at_start,
        )


def _is_introduced(said: str, words: str, query: Query) -> bool:
    """Return whether the model presents a number from the prompt as its own final score: "Final rating: 5"."""
    leads = FINAL.search(said) or CHANGE.search(said)
    return leads is not None and not is_echo(f"{said} {words}", query.given)


def _letters(words: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", fold(words))


_SCORES = re.compile(
    rf"{_STRONG}|{_WEAK}|\b(?:dr|bottom line|rate|marks?|points?|stars?|level|rank|value|choice|pick|decision|"
    r"assessment|quality|"
    r"i|my|it|is|this|that|them|so|then|now|very|highly|extremely|fully|completely|mostly|largely|quite|rather|somewhat|slightly|moderately|"
    r"partly|partially|barely|hardly|not|yes|no|none|low|medium|high|good|great|excellent|perfect|fair|average|"
    r"adequate|acceptable|mediocre|neutral|poor|weak|strong|bad|terrible|(?:un)?clear|(?:dis)?agree)\b",
    re.I,
)
"""Words of a label for a score, and the common words for levels."""


def names_score(label: str, score: float, query: Query) -> bool:
    """Return whether a label has a word for a score, a word of the criterion's name, or the name of this score's level.

    A criterion without a name may have any label.
    """
    if not query.names or _SCORES.search(label):
        return True
    pairs = itertools.product(_letters(label), _letters(query.names[-1]))
    if any(len(word) > 3 and len(commonprefix([word, own])) >= max(3, len(word) - 3) for word, own in pairs):
        return True
    return re.search(rf"(?<![\d.]){score:g}\W{{1,4}}{re.escape(fold(label))}(?!\w)", query.given) is not None


def _skip_gap(text: str, position: int, skip: re.Pattern[str]) -> int:
    """Return the position after line breaks, bullets, brackets and one empty label."""
    for _ in range(2):
        gap = _GAP.match(text, position)
        position = gap.end() if gap else position
        label = skip.match(text, position)
        if label is None:
            break
        position = label.end()
    return position


def _begins_list(text: str, start: int, end: int) -> bool:
    """Return whether the number begins a numbered list of anchors or items rather than states a score."""
    line = text.rfind("\n", 0, start)
    if line < 0 or text[line + 1 : start].strip(" \t-•("):
        return False
    return bool(re.match(r"[^\n]{0,200}\n\s*[-•(]?\s*\d+\s*[.):=-]\s", text[end : end + 300]))


def _choose(candidates: Sequence[Candidate], text: str, query: Query) -> Stated | None:
    """Return the score that the labelled numbers state: None if there are none, no score if they disagree."""
    clean = [candidate for candidate in candidates if candidate.stated.score is not None]
    # A short statement that the prompt also contains is a verdict only at the start of a line.
    ours = [candidate for candidate in clean if not candidate.echo or candidate.line_start]
    if not ours:
        return Stated(None, candidates[0].stated.words) if candidates else None
    if not any(one.line_start or text[: one.start].rstrip().endswith((".", "!", "?")) for one in ours):
        ours = clean  # among labels within sentences, nothing tells a copy from a verdict
    ours = [one for one in ours if not _is_quoted(one, text)] or ours
    named = [candidate for candidate in ours if _is_named(candidate, query)]
    return _last(named or ours, text)


def _is_quoted(candidate: Candidate, text: str) -> bool:
    """Return whether the label and its number are in quotation marks, which marks another person's words."""
    before, after = (
        text[max(0, candidate.start - 1) : candidate.start],
        text[candidate.end : candidate.end + 1],
    )
    return before in tuple("'‘“\"") and after in tuple("'’”\".")


def _is_named(candidate: Candidate, query: Query) -> bool:
    """Return whether the label or the words before it name the criterion."""
    names = {fold(name) for name in query.names}
    is_label = candidate.line_start or _LABEL.search(candidate.stated.words)
    is_within = any(name in fold(candidate.stated.words) for name in names if name)
    return bool(is_label and is_within) or any(
        candidate.qualifier.rstrip().endswith(name) for name in names if name
    )


def _last(candidates: list[Candidate], text: str) -> Stated:
    if len({candidate.stated.score for candidate in candidates}) == 1:
        return candidates[-1].stated
    settled = [one for one in candidates if not EARLY.search(one.qualifier)] or candidates
    verdict, is_final, doubtful = settled[0], bool(FINAL.search(settled[0].called)), False
    for candidate in settled[1:]:
        final = bool(FINAL.search(candidate.called))
        between = text[verdict.end : candidate.start]
        if final and not is_final or CHANGE.search(between):
            verdict, is_final, doubtful = candidate, final, False
        elif candidate.stated.score == verdict.stated.score:
            verdict, is_final = candidate, is_final or final
        elif _goes_to_another(between):
            break
        else:
            verdict, doubtful = candidate, True
    if doubtful:
        return Stated(None, "several ratings that differ, none of them called the final one")
    return verdict.stated


def _goes_to_another(between: str) -> bool:
    """Return whether a heading between two scores starts another item."""
    return any(
        not _PARTS.fullmatch(heading["words"].strip())
        for heading in _HEADING.finditer(between[: between.rfind("\n") + 1])
    )
