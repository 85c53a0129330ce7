"""Submissions on Prolific with the people's work here, and an owner's decisions on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from coeval.domain import Person
from coeval.errors import InputError
from coeval.extensions.prolific.api import AWAITING, RemoteStudy, RemoteSubmission
from coeval.extensions.prolific.request_types import Asked, Item, Kind
from coeval.extensions.prolific.requests_log import Act, Desk, Line, Report, each, open_desk
from coeval.extensions.prolific.rules import check_rejection, find_obstacle
from coeval.usecases.access import OWNERS, Context, use_case
from coeval.usecases.crowd.overview import Row, get_overview

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
        known = {entry.remote.id: entry for entry in self.entries}
        wanted = list(dict.fromkeys(one.strip() for one in submissions if one.strip()))
        lost = [one for one in wanted if one not in known]
        if lost:
            raise InputError(
                f"This task's studies on Prolific have no submission “{lost[0][:60]}”: reload the list."
            )
        if not wanted:
            raise InputError("No submission is chosen: choose at least one.")
        return [known[one] for one in wanted]


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
    suggested: bool = False,
    dry_run: bool = True,
) -> Report:
    """Approve, reject or ask to return submissions, and record the evidence for each.

    ``suggested`` selects all submissions without a warning that await review, for approvals only. Only submissions
    that await review can be approved or rejected. If Prolific refuses one, the others are still processed.

    Raises:
        InputError: no submission is chosen, or a rejection lacks a required detail; nothing was sent.
    """
    if verdict is Verdict.REJECT:
        check_rejection(category, message)
    if verdict is Verdict.RETURN and not 1 <= len(message.strip()) <= MAX_REASON:
        raise InputError("Tell the person why to return the submission: Prolific forwards the message.")
    if suggested and verdict is not Verdict.APPROVE:
        raise InputError("Only approvals can use “all suggested”: choose the submissions instead.")
    if suggested and any(submissions):
        raise InputError("Choose either named submissions or all suggested ones, not both.")
    with open_desk(context, person, slug) as desk:
        live = read_live(desk)
        chosen = (
            [entry for entry in live.entries if entry.suggested] if suggested else live.choose(submissions)
        )
        acts: list[Act] = []
        left: list[Line] = []
        for entry in chosen:
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
        one.remote.time_taken
        for one in live.entries
        if one.remote.time_taken and one.study.id == entry.study.id
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
