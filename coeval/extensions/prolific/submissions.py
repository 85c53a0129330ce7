"""Submissions on Prolific with the people's work here, and an owner's decisions on them.

Permitted rejections: docs.prolific.com/api-reference/submissions (a category, a message of 100 characters, only
submissions that wait for review) and Prolific's attention check policy (from five minutes on, two failed checks; below,
one).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from coeval.domain import Participant, Person
from coeval.errors import InputError
from coeval.extensions.prolific.api import AWAITING, RemoteStudy, RemoteSubmission
from coeval.extensions.prolific.queries import Asked, Item, Kind
from coeval.extensions.prolific.requests_log import Act, Desk, Line, Report, each, open_desk
from coeval.usecases.access import OWNERS, Context, use_case
from coeval.usecases.crowd.overview import FEWEST, Row, get_overview

MESSAGE_LEAST = 100
LONG_STUDY = 5
"""The length of a study, in minutes, from which one failed check is not enough for a rejection."""
FAST_SPREADS = 3
"""The number of standard deviations below the mean at which a time counts as exceptionally short."""


class Category(StrEnum):
    """Prolific's reason for a rejection."""

    TOO_QUICKLY = "TOO_QUICKLY"
    TOO_SLOWLY = "TOO_SLOWLY"
    FAILED_INSTRUCTIONS = "FAILED_INSTRUCTIONS"
    INCOMP_LONGITUDINAL = "INCOMP_LONGITUDINAL"
    FAILED_CHECK = "FAILED_CHECK"
    LOW_EFFORT = "LOW_EFFORT"
    MALINGERING = "MALINGERING"
    NO_CODE = "NO_CODE"
    BAD_CODE = "BAD_CODE"
    NO_DATA = "NO_DATA"
    UNSUPP_DEVICE = "UNSUPP_DEVICE"
    OTHER = "OTHER"


def check_rejection(category: str, message: str) -> None:
    """Check the details that Prolific requires for a rejection.

    Raises:
        InputError: the category is not one of Prolific's, or the message is too short.
    """
    if category not in list(Category):
        raise InputError(
            f"“{category[:40]}” is not one of Prolific's categories: choose one of {', '.join(Category)}."
        )
    if len(message.strip()) < MESSAGE_LEAST:
        raise InputError(
            f"The message has {len(message.strip())} characters: Prolific requires at least "
            f"{MESSAGE_LEAST}, so explain what was wrong."
        )


def find_obstacle(
    category: str,
    participant: Participant | None,
    seconds: float | None,
    times: Sequence[float],
    minutes: float,
) -> str:
    """Return why Prolific's rules forbid this rejection; "" if they allow it.

    ``seconds`` is the time of this submission, ``times`` are those of all submissions, ``minutes`` is the study's
    length.
    """
    if category == Category.FAILED_CHECK:
        failed, least = participant.failed if participant else 0, 2 if minutes >= LONG_STUDY else 1
        if failed < least:
            return (
                f"{failed} attention checks failed, but a rejection in a study of {minutes:.0f} minutes needs {least}:"
                " approve, or ask to return"
            )
    if category == Category.TOO_QUICKLY:
        if seconds is None or len(times) < FEWEST:
            return "there are too few times for a comparison: approve, or ask to return"
        limit = statistics.mean(times) - FAST_SPREADS * statistics.stdev(times)
        if seconds >= limit:
            return (
                f"it took {seconds / 60:.1f} minutes, but only a time {FAST_SPREADS} standard deviations below the "
                f"mean ({max(limit, 0) / 60:.1f} minutes) counts as too quick: approve, or ask to return"
            )
    return ""


MAX_REASON = 2000


class Verdict(StrEnum):
    """An owner's decision on a submission."""

    APPROVE = "approve"
    RETURN = "return"
    REJECT = "reject"


@dataclass(frozen=True, slots=True)
class Entry:
    """One submission on Prolific, with the record of the person's work in CoEval."""

    remote: RemoteSubmission
    study: RemoteStudy
    row: Row | None = None

    @property
    def name(self) -> str:
        return self.row.name if self.row else "(never came)"

    @property
    def suggested(self) -> bool:
        """Return whether the submission awaits review and has no warning."""
        return self.remote.status == AWAITING and bool(self.row and self.row.advice.suggestion == "approve")


@dataclass(frozen=True, slots=True)
class Live:
    """The task's studies on Prolific, oldest first, with their submissions."""

    studies: tuple[RemoteStudy, ...]
    entries: tuple[Entry, ...]

    @property
    def currency(self) -> str:
        return self.studies[-1].currency if self.studies else ""

    def choose(self, submissions: Sequence[str]) -> list[Entry]:
        """Return the entries with these ids, each once.

        Raises:
            InputError: there are no ids, or the task's studies on Prolific have no such submission.
        """
        by_id = {entry.remote.id: entry for entry in self.entries}
        wanted = list(dict.fromkeys(submission.strip() for submission in submissions if submission.strip()))
        lost = [submission for submission in wanted if submission not in by_id]
        if lost:
            raise InputError(
                f"This task's studies on Prolific have no submission “{lost[0][:60]}”: reload the list."
            )
        if not wanted:
            raise InputError("No submission is chosen: choose at least one.")
        return [by_id[submission] for submission in wanted]


@use_case(OWNERS)
def get_live(context: Context, person: Person, slug: str) -> Live:
    """Return the current submissions on Prolific with the people's work in CoEval."""
    with open_desk(context, person, slug) as desk:
        return read_live(desk)


def read_live(desk: Desk) -> Live:
    """Return the task's studies and submissions, without drafts that were deleted on Prolific."""
    rows = {
        session: row
        for row in get_overview(desk.context, desk.person, desk.task.slug).people
        for session in (*row.participant.repeats, row.participant.session)
    }
    studies = [study for study in map(desk.find_study, desk.studies) if study]
    entries = [
        Entry(remote, study, rows.get(remote.id))
        for study in studies
        if not study.is_draft
        for remote in desk.client.list_submissions(study.id)
    ]
    return Live(tuple(studies), tuple(entries))


@use_case(OWNERS)
def review(
    context: Context,
    person: Person,
    slug: str,
    verdict: Verdict,
    submissions: Sequence[str] = (),
    *,
    category: str = "",
    message: str = "",
    dry_run: bool = True,
) -> Report:
    """Approve, reject or ask to return submissions, and record the evidence for each.

    Only submissions that await review can be approved or rejected. If Prolific refuses one, the others are still
    processed.

    Raises:
        InputError: no submission is chosen, or a rejection lacks a required detail; nothing was sent.
    """
    if verdict is Verdict.REJECT:
        check_rejection(category, message)
    if verdict is Verdict.RETURN and not 1 <= len(message.strip()) <= MAX_REASON:
        raise InputError("Tell the person why to return the submission: Prolific forwards the message.")
    with open_desk(context, person, slug) as desk:
        live = read_live(desk)
        acts: list[Act] = []
        left: list[Line] = []
        for entry in live.choose(submissions):
            obstacle = _find_obstacle(live, entry, verdict, category)
            if obstacle:
                left.append(Line(_name(entry), obstacle, failed=True))
            else:
                reward = round(entry.study.reward) if verdict is Verdict.APPROVE else 0
                act = partial(_decide, desk, entry, verdict, category, message.strip())
                acts.append((_name(entry), act, reward))
        title, done = _TITLES[verdict]
        if dry_run:
            lines = [Line(what, f"would be {done}", reward) for what, _, reward in acts]
            return Report(title, (*lines, *left), live.currency, dry=True)
        return Report(title, (*each(acts, done), *left), live.currency)


_TITLES = {
    Verdict.APPROVE: ("Approvals", "approved, and paid the reward"),
    Verdict.RETURN: ("Requests to return", "asked to return the submission"),
    Verdict.REJECT: ("Rejections", "rejected, and not paid"),
}


def _name(entry: Entry) -> str:
    return f"{entry.name} · {entry.remote.id}"


def _find_obstacle(live: Live, entry: Entry, verdict: Verdict, category: str) -> str:
    """Return why this decision on a submission is impossible; "" if it is possible."""
    status = entry.remote.status
    if verdict is Verdict.RETURN:
        if entry.remote.return_requested:
            return "was asked to return before"
        return "" if status in (AWAITING, "ACTIVE") else f"is {status.lower()}: there is nothing to return"
    if status != AWAITING:
        return f"is {status.lower()}: only submissions that await review can be decided"
    if verdict is Verdict.APPROVE:
        return ""
    times = [
        other.remote.time_taken
        for other in live.entries
        if other.remote.time_taken and other.study.id == entry.study.id
    ]
    return find_obstacle(
        category, entry.row.participant if entry.row else None, entry.remote.time_taken, times,
        entry.study.estimated_completion_time,
    )  # fmt: skip


def _decide(desk: Desk, entry: Entry, verdict: Verdict, category: str, message: str) -> None:
    submission = entry.remote.id
    evidence = entry.row.advice.evidence if entry.row else "the person never started"
    amount = round(entry.study.reward) if verdict is Verdict.APPROVE else 0
    asked = Asked(
        Kind(str(verdict)), entry.study.id,
        (Item(f"{verdict}:{submission}", submission, amount, who=entry.name),), entry.study.currency,
        "; ".join(part for part in (category, message, evidence) if part), desk.person.name,
    )  # fmt: skip

    def send() -> str:
        if verdict is Verdict.RETURN:
            desk.client.request_return(submission, message)
        elif verdict is Verdict.APPROVE:
            desk.client.transition(submission, {"action": "APPROVE"})
        else:
            body = {"action": "REJECT", "rejection_category": category, "message": message}
            desk.client.transition(submission, body)
        return submission

    desk.carry_out(asked, send, again=verdict is not Verdict.RETURN)
