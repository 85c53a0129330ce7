"""Which of several ratings is the verdict: the last one that the model itself calls so.

Models give a preliminary rating and then a final one, rate several criteria in one answer, or change their mind
on the way. Two ratings that contradict each other with nothing of this between them are no verdict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coeval.llm.reading.folding import fold
from coeval.llm.reading.rating.rating_shapes import Query, Stated


@dataclass(frozen=True, slots=True)
class Candidate:
    """A number after a cue; the sample's own words count only where the form puts a verdict."""

    stated: Stated
    cue: str
    qualifier: str
    """The words before the cue on its line, as far as they qualify it: "final", "clarity", "my first"."""
    start: int
    end: int
    echo: bool
    line_start: bool


_FINAL = re.compile(r"\b(?:final|overall|revised|updated|adjusted|corrected|settled|total|verdict)\b", re.I)
_LABEL = re.compile(r"\b(?:scores?|ratings?)\b", re.I)
_EARLY = re.compile(r"\b(?:preliminary|initial|tentative|provisional|draft|first|starting|original)\b", re.I)
_CHANGE = re.compile(
    r"\b(?:wait|actually|final(?:ly)?|reconsider\w*|on (?:second thought|reflection)|second thoughts?|correction|"
    r"correct(?:ed|ing)|revis\w{1,6}|chang\w{1,4} my|let me (?:re|think)|after (?:further|more|reading|all)|"
    r"hmm|instead|re-?(?:read|evaluat|assess|examin|check)\w{0,6})\b",
    re.I,
)
_HEADING = re.compile(r"^[^\w\n]{0,9}(?P<words>[^\W\d_][\w /'-]{0,40}?)[^\w\n]{0,4}[:：][^\w\n]{0,4}$", re.M)
_PARTS = re.compile(
    r"rational\w*|analys\w*|explanation|reason\w*|ratings?|scores?|answer|evaluation|judge?ment|justification|"
    r"evidence|conclusion|feedback|comments?|summary|verdict",
    re.I,
)


def choose(candidates: list[Candidate], text: str, query: Query) -> Stated | None:
    """The verdict among the numbers after cues; None where there are none, no score where they contradict."""
    clean = [candidate for candidate in candidates if candidate.stated.score is not None]
    ours = [candidate for candidate in clean if not candidate.echo]
    ours = ours or [candidate for candidate in clean if candidate.line_start]
    if not ours:
        return Stated(None, candidates[0].stated.words) if candidates else None
    named = [candidate for candidate in ours if _is_named(candidate, query)]
    return _last(named or ours, text)


def _is_named(candidate: Candidate, query: Query) -> bool:
    """Whether the number is said to be that of the criterion: by its cue, or by the words before it."""
    names = {fold(name) for name in query.names}
    labelled = candidate.line_start or _LABEL.search(candidate.stated.words)
    return bool(labelled and candidate.cue in names) or any(
        candidate.qualifier.endswith(name) for name in names if name
    )


def _last(candidates: list[Candidate], text: str) -> Stated:
    if len({candidate.stated.score for candidate in candidates}) == 1:
        return candidates[0].stated
    final = [candidate for candidate in candidates if _FINAL.search(candidate.qualifier)]
    settled = final or [candidate for candidate in candidates if not _EARLY.search(candidate.qualifier)]
    settled = settled or candidates
    verdict = settled[0]
    for candidate in settled[1:]:
        if candidate.stated.score == verdict.stated.score:
            continue
        between = text[verdict.end : candidate.start]
        if _CHANGE.search(between) or final:
            verdict = candidate
        elif _goes_to_another(between):
            break
        else:
            return Stated(None, "several ratings that differ, none of them called the final one")
    return verdict.stated


def _goes_to_another(between: str) -> bool:
    """Whether a heading between two ratings opens another item than the one that was asked about."""
    return any(not _PARTS.fullmatch(heading["words"].strip()) for heading in _HEADING.finditer(between))
