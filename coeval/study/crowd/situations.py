"""Where somebody is in a study: what their page says, and which code they are due. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from coeval.domain import Plan, Standing, StudyState, Terms


class Situation(StrEnum):
    """What a person's page is about; every one has words of its own and a way on."""

    GUIDELINES = "guidelines"
    EXAM = "exam"
    REVIEW = "review"
    WORK = "work"
    WARNED = "warned"
    TIMED_OUT = "timed_out"
    PAUSED = "paused"
    FULL = "full"
    CLOSED = "closed"
    FINISHED = "finished"
    SCREENED_OUT = "screened_out"
    BLOCKED = "blocked"
    REJECTED = "rejected"
    REMOVED = "removed"


ENDED = {
    Standing.FINISHED: Situation.FINISHED,
    Standing.SCREENED_OUT: Situation.SCREENED_OUT,
    Standing.BLOCKED: Situation.BLOCKED,
    Standing.REJECTED: Situation.REJECTED,
    Standing.REMOVED: Situation.REMOVED,
}
ENDABLE = (Situation.PAUSED, Situation.FULL, Situation.CLOSED, Situation.TIMED_OUT)
"""Where the study has nothing for a person who could go on, so that they may end with what they did."""


@dataclass(frozen=True, slots=True)
class Part:
    """A person's part in a study, by one submission; instances count attention checks too."""

    state: Standing
    finished: int = 0
    held: int = 0
    lapsed: int = 0
    """Instances of the last batch whose time ran out."""
    saved: int = 0
    """Evaluations saved in the study itself."""
    free: bool = True
    """Whether there is a place that this person can be given."""


def find_situation(plan: Plan, part: Part) -> Situation:
    """What a person's page is about.

    >>> find_situation(Plan(), Part(Standing.ADMITTED, held=2)).value
    'work'
    >>> find_situation(Plan(StudyState.PAUSED), Part(Standing.ADMITTED, finished=5)).value
    'paused'
    """
    if part.state in ENDED:
        return ENDED[part.state]
    if part.state is Standing.FULL:
        return Situation.FULL
    if plan.state is StudyState.CLOSED:
        return Situation.CLOSED
    if part.state in (Standing.WARNED, Standing.REVIEW):
        return Situation(part.state)
    if part.state is Standing.ADMITTED:
        return _at_work(plan, part)
    if is_full(plan, part.free):
        return Situation.FULL
    if plan.state is StudyState.PAUSED:
        return Situation.PAUSED
    return Situation.EXAM if part.state is Standing.EXAM else Situation.GUIDELINES


def _at_work(plan: Plan, part: Part) -> Situation:
    if part.held:
        return Situation.WORK
    if part.lapsed:
        return Situation.TIMED_OUT
    if plan.state is StudyState.PAUSED and not plan.reason:
        return Situation.PAUSED
    if plan.state is StudyState.RUNNING and part.free:
        return Situation.WORK
    return Situation.FINISHED if part.finished else Situation.FULL


def is_full(plan: Plan, free: bool) -> bool:
    """Whether a study has no place left for somebody: for now, or for good."""
    return plan.reason == "full" or (plan.state is StudyState.RUNNING and not free)


def find_code(terms: Terms, situation: Situation, part: Part) -> str:
    """The code a person is due where they are; empty where none is.

    Whoever the study itself stopped is due the code of the end for whatever they saved, and else the one for
    a full study.
    """
    if situation is Situation.FINISHED:
        return terms.code_done
    if situation is Situation.SCREENED_OUT:
        return terms.code_screened
    if situation is Situation.BLOCKED:
        return terms.code_blocked
    if situation is Situation.REMOVED:
        return terms.code_declined
    if situation in (Situation.PAUSED, Situation.FULL, Situation.CLOSED):
        return terms.code_done if part.saved else find_full_code(terms)
    if situation is Situation.TIMED_OUT and part.finished:
        return terms.code_done
    return ""


def find_full_code(terms: Terms) -> str:
    """The code for people who find the study full."""
    return terms.code_full or terms.code_screened
