"""The common steps of all requests to Prolific: find the task's studies, record the request, and report the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from coeval.clock import time_from_now
from coeval.domain import Person, Plan, Task
from coeval.errors import InputError, NotFoundError
from coeval.extensions.prolific import queries as record
from coeval.extensions.prolific.api import (
    APPROVED,
    REJECTED,
    Client,
    RefusedError,
    RemoteStudy,
    UnansweredError,
)
from coeval.extensions.prolific.queries import STANDING, UNSETTLED, Asked, Kind, Outcome
from coeval.safe_csv import rows_to_csv
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.crowd.entry import require_plan

NO_TOKEN = (
    "There is no PROLIFIC_TOKEN: create a token in Prolific's settings, set PROLIFIC_TOKEN where CoEval runs, "
    "and restart CoEval."
)


Act = tuple[str, Callable[[], None], int]
"""The subject of an action, its description, and its amount."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a report: a subject, an action, and its amount (pence or cents)."""

    what: str
    words: str
    amount: int = 0
    failed: bool = False
    """True if the action was left out or failed."""


@dataclass(frozen=True, slots=True)
class Report:
    """The finished or (in a dry run) planned actions. ``confirm`` is the confirmation text."""

    title: str
    lines: tuple[Line, ...]
    currency: str = ""
    confirm: str = ""
    dry: bool = False

    @property
    def total(self) -> int:
        return sum(line.amount for line in self.lines if not line.failed)

    @property
    def failed(self) -> int:
        return sum(line.failed for line in self.lines)


@dataclass(frozen=True, slots=True)
class Desk:
    """One owner's session on a task's studies on Prolific."""

    context: Context
    person: Person
    task: Task
    plan: Plan
    client: Client

    @property
    def asked(self) -> list[Asked]:
        with self.context.store.read() as db:
            return record.list_asked(db, self.task.id)

    @property
    def studies(self) -> list[str]:
        """Return the studies that were created from this task, oldest first."""
        return [
            request.remote
            for request in self.asked
            if request.kind is Kind.DRAFT and request.outcome is Outcome.DONE
        ]

    def find_study(self, study: str) -> RemoteStudy | None:
        """Return a study on Prolific; None if it was deleted there."""
        try:
            return self.client.get_study(study)
        except RefusedError as error:
            if error.status == 404:
                return None
            raise

    def require_study(self, *, out: bool = False) -> RemoteStudy:
        """Return the task's newest study that still exists on Prolific; with ``out``, the newest published one.

        Raises:
            InputError: there is none.
        """
        drafts = 0
        for number in reversed(self.studies):
            study = self.find_study(number)
            if study and not (out and study.is_draft):
                return study
            drafts += study is not None
        if drafts:
            raise InputError(f"The study for “{self.task.slug}” is still a draft: publish it first.")
        raise InputError(f"“{self.task.slug}” has no study on Prolific yet: create a draft first.")

    def begin(self, asked: Asked, *, again: bool = False) -> int:
        """Record a request before it is sent; return its number. ``again`` means that repeating it is harmless.

        Raises:
            InputError: the same request was sent before, and took or may have taken effect; nothing is recorded.
        """
        keys = {item.key for item in asked.items}
        with self.context.store.write() as db:
            for other in record.list_asked(db, self.task.id):
                if not again and other.outcome in STANDING and keys & {item.key for item in other.items}:
                    raise InputError(say_standing(other))
            return record.record_asked(db, self.task.id, asked)

    def note(self, number: int, outcome: Outcome, *, remote: str = "", answer: str = "") -> None:
        with self.context.store.write() as db:
            record.record_step(db, number, outcome, self.person.name, remote=remote, answer=answer)

    def carry_out(self, asked: Asked, send: Callable[[], str], *, again: bool = False) -> str:
        """Record a request, send it, and record its result; return the id of what Prolific created, or "".

        Raises:
            InputError: the same request was sent before; nothing was sent.
            RefusedError: it had no effect.
            UnansweredError: it may have had an effect.
        """
        number = self.begin(asked, again=again)
        with self.noted(number):
            remote = send()
        self.note(number, Outcome.DONE, remote=remote)
        return remote

    @contextmanager
    def noted(self, number: int) -> Iterator[None]:
        """Record the reason why a request failed."""
        try:
            yield
        except RefusedError as error:
            self.note(number, Outcome.REFUSED, answer=str(error))
            raise
        except UnansweredError as error:
            self.note(number, Outcome.UNKNOWN, answer=str(error))
            raise UnansweredError(
                f"{error} The result is unknown: look up request {number} under “Requests to Prolific” "
                "before you send it again."
            ) from error


@contextmanager
def open_desk(context: Context, person: Person, slug: str) -> Iterator[Desk]:
    """Open a desk for a task with a crowd plan.

    Raises:
        NotFoundError: there is no such task, or it has no plan.
        InputError: there is no token.
    """
    with context.store.read() as db:
        task, plan = require_plan(db, slug)
    settings = context.settings
    if not settings.prolific_token:
        raise InputError(NO_TOKEN)
    with Client(settings.prolific_api, settings.prolific_token) as client:
        yield Desk(context, person, task, plan, client)


def say_standing(asked: Asked) -> str:
    """Return the reason that the same request is not sent again."""
    when = (
        f"{asked.asked_by} sent this request on {asked.asked_at[:16].replace('T', ' ')} (request {asked.id})"
    )
    if asked.outcome in UNSETTLED:
        return f"{when}, and its result is unknown: look up that request first."
    return f"{when}, and it succeeded, so it is not sent again."


def say_money(amount: int, currency: str = "") -> str:
    """Return hundredths as an amount of money.

    >>> say_money(1205, "GBP"), say_money(7)
    ('12.05 GBP', '0.07')
    """
    return f"{amount // 100}.{amount % 100:02d} {currency}".strip()


def check_confirmation(typed: str, wanted: str) -> None:
    """Raise an error unless the owner typed the dry run's confirmation text.

    Raises:
        InputError: the text differs.
    """
    if " ".join(typed.split()).casefold() != wanted.casefold():
        raise InputError(f"To confirm, type “{wanted}”. Nothing was sent.")


def each(acts: Sequence[Act], done: str) -> Iterator[Line]:
    """Carry out the actions one after another. A refused action does not stop the others.

    Stop after an action without an answer, or if Prolific accepts no requests at all.
    """
    stopped = ""
    for what, act, amount in acts:
        if stopped:
            yield Line(what, f"not requested: {stopped}", failed=True)
            continue
        try:
            act()
        except InputError as error:
            yield Line(what, str(error), failed=True)
        except UnansweredError as error:
            stopped = str(error)
            yield Line(what, stopped, failed=True)
        except RefusedError as error:
            stopped = str(error) if error.status in (0, 401, 403, 429) else ""
            yield Line(what, str(error), failed=True)
        else:
            yield Line(what, done, amount)


COLUMNS = [
    "request", "asked_at", "asked_by", "kind", "study", "subject", "person", "amount", "currency", "outcome",
    "answered_at", "prolific_id", "note", "answer",
]  # fmt: skip


@use_case(OWNERS)
def list_asked(context: Context, person: Person, slug: str) -> list[Asked]:
    """Return a task's requests to Prolific, oldest first."""
    with context.store.read() as db:
        return record.list_asked(db, require_task(db, slug).id)


@use_case(OWNERS)
def export_asked(context: Context, person: Person, slug: str) -> str:
    """Export the requests to Prolific as CSV, with one row per submission, study or person."""
    rows: list[list[object]] = [[*COLUMNS]]
    for request in list_asked(context, person, slug):
        for item in request.items:
            rows.append([
                request.id, request.asked_at, request.asked_by, str(request.kind), request.study, item.subject,
                item.who, say_money(item.amount), request.currency, str(request.outcome), request.answered_at,
                request.remote, request.note, request.answer,
            ])  # fmt: skip
    return rows_to_csv(rows)


# Look up the results of unanswered requests, which are never sent again.


WAIT_MINUTES = 60
"""Prolific may show a change some minutes after the request: before this time, a missing result proves nothing."""


@use_case(OWNERS)
def settle(context: Context, person: Person, slug: str, request: int, *, confirm: str = "") -> Report:
    """Look up an unanswered request on Prolific and record its result; nothing is sent again.

    If Prolific shows no result after an hour, an owner who has checked Prolific's own page can state that it did not
    happen, with the confirmation text of the report. The request can then be sent again.

    Raises:
        NotFoundError: there is no such request.
        InputError: its result is already known.
    """
    with open_desk(context, person, slug) as desk:
        asked = next((entry for entry in desk.asked if entry.id == request), None)
        if asked is None:
            raise NotFoundError(f"“{slug}” has no request {request}: choose a number from the list.")
        if asked.outcome not in UNSETTLED:
            raise InputError(f"The result of request {request} is already known: {asked.outcome}.")
        happened, remote, words = _look(desk, asked)
        if happened:
            desk.note(request, Outcome.DONE, remote=remote, answer=f"looked up: {words}")
            done = Line(str(asked.kind), words, asked.amount)
            return Report(f"Request {request} was done", (done,), asked.currency)
        wanted = f"request {request} did not happen"
        early = asked.answered_at > time_from_now(-timedelta(minutes=WAIT_MINUTES))
        if confirm.strip() and not early:
            check_confirmation(confirm, wanted)
            desk.note(
                request, Outcome.REFUSED, answer=f"{words}; {person.name} stated that it did not happen"
            )
            return Report(f"Request {request} did not happen", (Line(str(asked.kind), words),))
        if early:
            advice = f"look it up again {WAIT_MINUTES} minutes after it was sent"
            return Report(
                f"Request {request} is still open",
                (Line(str(asked.kind), f"{words}: {advice}", failed=True),),
            )
        advice = "check Prolific's own page, and confirm if it shows no result either"
        line = Line(str(asked.kind), f"{words}: {advice}", failed=True)
        return Report(f"Request {request} is still open", (line,), confirm=wanted)


def _look(desk: Desk, asked: Asked) -> tuple[bool, str, str]:
    """Return whether a request took effect, the id of its result, and a description of what Prolific shows."""
    item, client = asked.items[0], desk.client
    if asked.kind is Kind.DRAFT:
        made = next((draft.id for draft in client.list_drafts() if draft.internal_name == item.key), "")
        return bool(made), made, f"the draft {made} exists" if made else "there is no such draft"
    if asked.kind is Kind.PUBLISH:
        study = desk.find_study(asked.study)
        out = study is not None and not study.is_draft
        return out, asked.study, "the study is published" if out else "the study is not published"
    if asked.kind is Kind.PLACES:
        places = client.get_study(asked.study).total_available_places
        return places >= int(item.key.rpartition(":")[2]), asked.study, f"the study has {places} places"
    seen = client.get_submission(item.subject)
    if asked.kind is Kind.RETURN:
        there = bool(seen.return_requested) or seen.status == "RETURNED"
        return there, seen.id, "the return was requested" if there else "no return was requested"
    wanted = APPROVED if asked.kind is Kind.APPROVE else REJECTED
    return seen.status == wanted, seen.id, f"the submission is {seen.status.lower()}"
