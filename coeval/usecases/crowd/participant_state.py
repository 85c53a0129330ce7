"""A person's state in a study, their completion code, and the suggestion for their submission. Pure.

The worker's page and the owner's list both use ``find_due``, so they cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from coeval.domain import Participant, Plan, Standing, StudyState, Terms


class Situation(StrEnum):
    """The situation of a person, which decides the texts and the next step on their page."""

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
    WITHDRAWN = "withdrawn"
    REMOVED = "removed"


ENDED = {
    Standing.FINISHED: Situation.FINISHED,
    Standing.SCREENED_OUT: Situation.SCREENED_OUT,
    Standing.BLOCKED: Situation.BLOCKED,
    Standing.REJECTED: Situation.REJECTED,
    Standing.WITHDRAWN: Situation.WITHDRAWN,
    Standing.REMOVED: Situation.REMOVED,
}
MAY_GO_ON = (Situation.PAUSED, Situation.TIMED_OUT)
"""States in which a person may wait or continue, and sees the code only after they finish."""
ENDABLE = (*MAY_GO_ON, Situation.FULL, Situation.CLOSED)
"""States in which the study has no work for the person, so that they may finish early."""


@dataclass(frozen=True, slots=True)
class Participation:
    """A person's part in a study in one submission; counts of instances include attention checks."""

    state: Standing
    finished: int = 0
    held: int = 0
    lapsed: int = 0
    """Instances of the last batch that timed out."""
    saved: int = 0
    """Evaluations saved in the study itself."""
    free: bool = True
    """True if there is a place for this person."""
    needed: int = 0
    """The number of instances required for the full code."""
    left: bool = False
    """True if the person later arrived for another study of the service, which ends this part."""
    before: Standing | None = None
    """The person's state before they withdrew or were removed."""

    @property
    def is_enough(self) -> bool:
        """Return whether the person has earned the full code."""
        return self.finished > 0 and self.finished >= self.needed


def build_part(plan: Plan, participant: Participant, available: int, free: bool) -> Participation:
    """Return the part of one submission; ``available`` is the number of instances that the person can get.

    Nobody is asked for more than they could get: where no other instance can come, those that they got are
    all that is needed for the full code.
    """
    gone = participant.state in (Standing.WITHDRAWN, Standing.REMOVED)
    got = participant.finished + participant.held + participant.timed_out + participant.taken_out
    could = available if participant.asked is None else participant.asked
    if (
        participant.asked is None
        and participant.state is Standing.ADMITTED
        and not participant.left
        and (plan.state is StudyState.CLOSED or is_full(plan, free))
    ):
        could = got
    return Participation(
        state=participant.state,
        finished=participant.taken_out if gone else participant.finished,
        held=0 if participant.left else participant.held,
        lapsed=0 if participant.left else participant.lapsed,
        saved=participant.saves,
        free=free,
        needed=max(min(plan.terms.enough or plan.quota, could), 1),
        left=participant.left,
        before=participant.before,
    )


@dataclass(frozen=True, slots=True)
class Due:
    """A person's state, and what follows from it for them and the owner."""

    situation: Situation
    code: str = ""
    """The code that the person's page shows."""
    offered: str = ""
    """The code for finishing now, if the person may."""
    suggestion: str = "wait"


def find_due(plan: Plan, part: Participation) -> Due:
    """Return what the person's page offers, and the decision on their payment that CoEval suggests.

    >>> plan = Plan(quota=15, terms=Terms(code_done="DONE", code_part="PART"))
    >>> due = find_due(plan, Participation(Standing.FINISHED, finished=1, needed=15))
    >>> due.code, due.suggestion
    ('PART', 'look')
    """
    situation = find_situation(plan, part)
    code = _find_code(plan.terms, situation, part)
    offered = code if situation in MAY_GO_ON else ""
    return Due(situation, "" if offered else code, offered, _suggest(situation, part))


def _suggest(situation: Situation, part: Participation) -> str:
    if situation in (Situation.REJECTED, Situation.BLOCKED):
        return "reject"
    if situation is Situation.SCREENED_OUT:
        return "screen out"
    if situation in (Situation.WITHDRAWN, Situation.REMOVED):
        return "look" if _had_finished(part) else "return"
    if situation is Situation.TIMED_OUT and not part.finished:
        return "return"
    if situation in (Situation.FINISHED, Situation.TIMED_OUT, Situation.FULL, Situation.CLOSED):
        if part.finished or part.saved:
            return "approve" if part.is_enough else "look"
        return "return" if part.left else "screen out"
    return "wait"


def _had_finished(part: Participation) -> bool:
    """Return whether a person who left had earned the full code before."""
    return part.before is Standing.FINISHED and part.is_enough


def find_situation(plan: Plan, part: Participation) -> Situation:
    """Return the situation that a person's page shows.

    >>> find_situation(Plan(), Participation(Standing.ADMITTED, held=2)).value
    'work'
    >>> find_situation(Plan(StudyState.PAUSED), Participation(Standing.ADMITTED, finished=5)).value
    'paused'
    """
    if part.state in ENDED:
        return ENDED[part.state]
    if part.left:
        return Situation.FINISHED
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
    if plan.state in (StudyState.PLANNED, StudyState.PAUSED):
        return Situation.PAUSED
    return Situation.EXAM if part.state is Standing.EXAM else Situation.GUIDELINES


def _at_work(plan: Plan, part: Participation) -> Situation:
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
    """Return whether a study has no place for a person, now or permanently."""
    return plan.reason == "full" or (plan.state is StudyState.RUNNING and not free)


def _find_code(terms: Terms, situation: Situation, part: Participation) -> str:
    """Return the completion code for a person's state; empty if there is none.

    The full code requires the stated amount of work. People who did less get another code.
    """
    if situation is Situation.SCREENED_OUT:
        return terms.code_screened
    if situation is Situation.BLOCKED:
        return terms.code_blocked
    if situation in (Situation.WITHDRAWN, Situation.REMOVED):
        return terms.code_done if _had_finished(part) else terms.code_declined
    if situation is Situation.TIMED_OUT and not part.finished:
        return ""
    if situation in (Situation.FINISHED, *ENDABLE):
        if part.is_enough:
            return terms.code_done
        if part.finished or part.saved:
            return terms.code_part or find_full_code(terms)
        return "" if part.left else find_full_code(terms)
    return ""


def find_full_code(terms: Terms) -> str:
    """Return the code for people who arrive when the study is full."""
    return terms.code_full or terms.code_screened
