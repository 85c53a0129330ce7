"""Bonuses by a rule: preview them, pay each once, and look up payments without an answer.

A payment takes two requests. The first prepares the bonuses as a bulk and pays nothing. The second pays the bulk, and
would pay again if it were repeated. So the bulk's id is recorded before the second request, which is sent only once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from coeval.domain import Person
from coeval.errors import CoevalError, InputError, StaleError
from coeval.extensions.prolific import queries as record
from coeval.extensions.prolific.api import APPROVED, AWAITING, REJECTED, RefusedError, UnansweredError
from coeval.extensions.prolific.request_types import UNSETTLED, Asked, Item, Kind, Outcome
from coeval.extensions.prolific.requests_log import (
    Desk,
    Line,
    Report,
    check_confirmation,
    open_desk,
    say_money,
)
from coeval.extensions.prolific.submissions import Entry, read_live
from coeval.usecases.access import OWNERS, Context, use_case

MOST_PEOPLE = 200
"""The largest number of people in one request, according to Prolific's reference."""
AHEAD = ("RESERVED", "ACTIVE", AWAITING)
"""Statuses of a submission whose reward is undecided."""
UNREWARDED = (REJECTED, "RETURNED", "TIMED OUT", "TIMED-OUT")
"""Statuses of a submission that gets no reward."""
MOST_EACH = 100_00
"""The largest bonus per person, in hundredths, which catches misplaced decimal points."""


class Rule(StrEnum):
    """A rule for the amount per person."""

    TIME = "time"
    """The time taken at the plan's pay per hour, minus the reward and earlier bonuses."""
    SAME = "same"
    """The same amount for everybody."""
    EACH = "each"
    """An amount for every finished instance."""


@dataclass(frozen=True, slots=True)
class Bonus:
    """A rule, its amount (pence or cents, for ``same`` and ``each``), and the name of the bonus.

    A submission never gets two bonuses with the same name.
    """

    rule: Rule
    name: str
    amount: int = 0

    def tell(self) -> str:
        how = {
            Rule.TIME: "the time taken at the hourly pay, minus earlier payments",
            Rule.SAME: f"{say_money(self.amount)} each",
            Rule.EACH: f"{say_money(self.amount)} for every finished instance",
        }[self.rule]
        return f"{self.name}: {how}"


@dataclass(frozen=True, slots=True)
class _Due:
    """The bonus of a person, or the reason for paying none."""

    entry: Entry
    item: Item | None
    words: str


@use_case(OWNERS)
def pay_bonus(
    context: Context,
    person: Person,
    slug: str,
    bonus: Bonus,
    submissions: Sequence[str] = (),
    *,
    confirm: str = "",
    dry_run: bool = True,
) -> Report:
    """Pay a bonus to these submissions or to all approved ones, or preview it.

    Raises:
        InputError: the rule cannot be used, it pays nobody, or the confirmation does not match the preview; nothing
        was paid.
    """
    _check(bonus)
    with open_desk(context, person, slug) as desk:
        live = read_live(desk)
        chosen = (
            live.choose(submissions)
            if any(submissions)
            else [entry for entry in live.entries if entry.remote.status == APPROVED]
        )
        known = desk.asked
        dues = [_find_due(desk, entry, bonus, known) for entry in chosen]
        payable = [due for due in dues if due.item]
        left = tuple(Line(_name(due.entry), due.words, failed=True) for due in dues if not due.item)
        total = sum(due.item.amount for due in payable if due.item)
        wanted = f"pay {say_money(total, live.currency)} to {len(payable)}"
        if dry_run:
            lines = tuple(Line(_name(due.entry), due.words, due.item.amount) for due in payable if due.item)
            return Report(bonus.tell(), (*lines, *left), live.currency, wanted if payable else "", dry=True)
        if not payable:
            raise InputError("This rule pays nobody: do a dry run to see the reason for each person.")
        check_confirmation(confirm, wanted)
        return Report(bonus.tell(), (*_pay_all(desk, bonus, payable, known), *left), live.currency)


def _check(bonus: Bonus) -> None:
    if not 1 <= len(bonus.name.strip()) <= 40:
        raise InputError(
            "The bonus has no name: state its purpose in a few words, such as “pilot” or “extra time”."
        )
    if bonus.rule is not Rule.TIME and not 0 < bonus.amount <= MOST_EACH:
        raise InputError(
            f"The amount is {say_money(bonus.amount)}: give one from 0.01 to {say_money(MOST_EACH)}."
        )


def _name(entry: Entry) -> str:
    return f"{entry.name} · {entry.remote.id}"


def _find_due(desk: Desk, entry: Entry, bonus: Bonus, known: Sequence[Asked]) -> _Due:
    submission = entry.remote.id
    bonuses = [one for one in known if one.kind is Kind.BONUS]
    mine = [(one, item) for one in bonuses for item in one.items if item.subject == submission]
    key = f"bonus:{submission}:{' '.join(bonus.name.split()).casefold()}"
    open_ = next((one for one, _ in mine if one.outcome in UNSETTLED), None)
    if open_:
        return _Due(
            entry,
            None,
            f"request {open_.id} includes this person, and its result is unknown: look it up first",
        )
    done = next((one for one, item in mine if item.key == key and one.outcome is Outcome.DONE), None)
    if done:
        return _Due(
            entry, None, f"got “{bonus.name}” with request {done.id}: nobody gets the same bonus twice"
        )
    unclear = _find_unclear(entry.remote.status) if bonus.rule is Rule.TIME else ""
    if unclear:
        return _Due(entry, None, unclear)
    # Prolific pays some minutes after the request, so its list may lag behind our record
    ours = sum(item.amount for one, item in mine if one.outcome is Outcome.DONE)
    before = max(entry.remote.paid, ours)
    amount, words = _compute(desk, entry, bonus, before)
    if amount <= 0:
        return _Due(entry, None, f"{words}: nothing is due")
    if amount > MOST_EACH:
        return _Due(
            entry, None, f"{words}: {say_money(amount)} is over the limit of {say_money(MOST_EACH)} a person"
        )
    return _Due(entry, Item(key, submission, amount, before, entry.name), words)


def _find_unclear(status: str) -> str:
    """Return the reason why a submission's reward cannot be subtracted from the pay for its time; "" if it can."""
    if status in AHEAD:
        return f"is {status.lower()}: decide about the reward first"
    if status == APPROVED or status in UNREWARDED:
        return ""
    return f"is {status.lower()}, and the amount that Prolific paid is unknown: use another rule"


def _compute(desk: Desk, entry: Entry, bonus: Bonus, before: int) -> tuple[int, str]:
    """Return the amount in hundredths, and its calculation in words."""
    row, reward = entry.row, round(entry.study.reward) if entry.remote.status == APPROVED else 0
    if bonus.rule is Rule.SAME:
        return bonus.amount, "the same for everybody"
    if row is None:
        return 0, "never arrived in CoEval"
    if bonus.rule is Rule.EACH:
        return bonus.amount * row.participant.finished, f"{row.participant.finished} finished instances"
    worth = round(row.advice.pay * 100)
    return worth - reward - before, (
        f"{row.participant.wall_minutes:.1f} minutes at {desk.plan.terms.hourly_rate:g} an hour are {say_money(worth)},"
        f" less {say_money(reward + before)} paid"
    )


def _pay_all(desk: Desk, bonus: Bonus, payable: Sequence[_Due], known: Sequence[Asked]) -> list[Line]:
    """Pay the bonuses in groups of 200 people of one study; stop after a request with an unknown result."""
    lines: list[Line] = []
    studies = list(dict.fromkeys(due.entry.study.id for due in payable))
    parts = [
        of_study[start : start + MOST_PEOPLE]
        for study in studies
        for of_study in [[due for due in payable if due.entry.study.id == study]]
        for start in range(0, len(of_study), MOST_PEOPLE)
    ]
    stopped = ""
    for part in parts:
        words = stopped
        if not stopped:
            try:
                words = f"paid by request {_pay(desk, bonus, part, known)}"
            except CoevalError as error:
                words, stopped = str(error), f"not requested because of an earlier error: {error}"
        lines += [
            Line(_name(due.entry), words, due.item.amount, failed=bool(stopped)) for due in part if due.item
        ]
    return lines


def _pay(desk: Desk, bonus: Bonus, part: Sequence[_Due], known: Sequence[Asked]) -> int:
    """Pay one bulk; return the number of the request.

    Raises:
        RefusedError: nothing was paid.
        StaleError: one of the people was paid meanwhile, or another owner took over the payment. This request
            paid nothing.
        UnansweredError: it may have been paid.
    """
    items = tuple(due.item for due in part if due.item)
    study = part[0].entry.study
    asked = Asked(
        Kind.BONUS, study.id, items, study.currency, bonus.tell(), desk.person.name, outcome=Outcome.PREPARED
    )  # fmt: skip
    number = desk.begin_bonus(asked, known)
    bulk = _set_up(desk, number, study.id, items)
    with desk.context.store.write() as db:
        now = next(one for one in record.list_asked(db, desk.task.id) if one.id == number)
        if now.outcome is not Outcome.PREPARED:
            raise StaleError(f"Another owner took over request {number}, so it paid nothing.")
        record.record_step(db, number, Outcome.SENT, desk.person.name, remote=bulk)
    with desk.noted(number):
        desk.client.pay_bonuses(bulk)
    desk.note(number, Outcome.DONE, remote=bulk)
    return number


def _set_up(desk: Desk, number: int, study: str, items: Sequence[Item]) -> str:
    """Prepare a bulk without paying it; return its id."""
    total = sum(item.amount for item in items)
    lines = "\n".join(f"{item.subject},{say_money(item.amount)}" for item in items)
    try:
        bulk = desk.client.set_up_bonuses(study, lines)
        if bulk.amount is not None and round(bulk.amount) != total:
            raise RefusedError(
                f"Prolific computed {say_money(round(bulk.amount))} instead of {say_money(total)}."
            )
    except (RefusedError, UnansweredError) as error:
        desk.note(number, Outcome.DROPPED, answer=str(error))
        raise RefusedError(
            f"{error} Nothing was paid: the request failed while the bonus was being prepared."
        ) from error
    return bulk.id
