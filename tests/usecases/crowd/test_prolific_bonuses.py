"""Bonuses by a rule: shown before, paid once, and never again by itself, whatever befalls the requests."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from coeval.domain import Person
from coeval.errors import CoevalError, InputError
from coeval.extensions.prolific import api, bonuses, lookup
from coeval.extensions.prolific.bonuses import Bonus, Rule, pay_bonus
from coeval.extensions.prolific.lookup import settle
from coeval.extensions.prolific.request_types import Kind, Outcome
from coeval.extensions.prolific.requests_log import list_asked
from coeval.extensions.prolific.submissions import Verdict, review
from coeval.usecases.access import Context
from tests.support.hosting.prolific_stub import FAULTS, ProlificStub, serving_prolific
from tests.support.studies import prolific_study
from tests.support.studies.prolific_study import open_study, publish, take_part

THANKS = Bonus(Rule.SAME, "thanks", 150)
ALL = ["a1", "a2", "a3"]


@pytest.fixture
def stub() -> Iterator[ProlificStub]:
    with serving_prolific() as running:
        yield running


@pytest.fixture
def study(context: Context, owner: Person, stub: ProlificStub, monkeypatch: pytest.MonkeyPatch) -> Context:
    """Three approved submissions, of 20, 30 and 14 minutes; the reward was for 20, 3.00."""
    monkeypatch.setattr(api, "PAUSE", 0.0)
    open_study(context)
    study = prolific_study.with_token(context, stub)
    remote = publish(study, owner, stub)
    for number, minutes in enumerate((10, 14, 8), 1):
        take_part(study, stub, remote, number, minutes=minutes, instances=number)
    review(study, owner, "demo", Verdict.APPROVE, ALL, dry_run=False)
    return study


def list_bonuses(study: Context, owner: Person) -> list[Outcome]:
    return [one.outcome for one in list_asked(study, owner, "demo") if one.kind is Kind.BONUS]


def test_a_bonus_is_shown_then_paid_once(study: Context, owner: Person, stub: ProlificStub) -> None:
    dry = pay_bonus(study, owner, "demo", THANKS)
    assert (dry.total, dry.confirm, stub.bulks) == (450, "pay 4.50 GBP to 3", {})
    for typed in ("", "pay 45.00 GBP to 3"):
        with pytest.raises(InputError, match="type “pay 4.50 GBP to 3”"):
            pay_bonus(study, owner, "demo", THANKS, confirm=typed, dry_run=False)
    paid = pay_bonus(study, owner, "demo", THANKS, confirm=dry.confirm, dry_run=False)
    assert paid.total == 450 and paid.failed == 0
    # what leaves is in whole currency: 1.50, not 150
    assert stub.paid == [("a1", 150), ("a2", 150), ("a3", 150)]
    with pytest.raises(InputError, match="This rule pays nobody"):
        pay_bonus(study, owner, "demo", Bonus(Rule.SAME, " Thanks ", 999), confirm=dry.confirm, dry_run=False)
    other = pay_bonus(study, owner, "demo", Bonus(Rule.SAME, "more", 100), ["a2"])
    assert other.total == 100 and list_bonuses(study, owner) == [Outcome.DONE]


def test_the_rules_state_their_working(study: Context, owner: Person, stub: ProlificStub) -> None:
    each = pay_bonus(study, owner, "demo", Bonus(Rule.EACH, "each", 20))
    assert [line.amount for line in each.lines] == [20, 40, 60] and "2 finished instances" in each.lines[
        1
    ].words
    # at 9.00 an hour 14 minutes are worth 2.10, below the reward of 3.00
    time = pay_bonus(study, owner, "demo", Bonus(Rule.TIME, "time"))
    assert time.failed == 3 and "nothing is due" in time.lines[0].words
    stub.studies[next(iter(stub.studies))]["reward"] = 150
    owed = pay_bonus(study, owner, "demo", Bonus(Rule.TIME, "time"))
    assert [line.amount for line in owed.lines if not line.failed] == [60]
    stub.submissions["a2"]["bonus_payments"] = [50]
    assert pay_bonus(study, owner, "demo", Bonus(Rule.TIME, "time")).total == 10
    for wrong, says in (
        (Bonus(Rule.SAME, "", 10), "no name"),
        (Bonus(Rule.SAME, "a", 0), "from 0.01"),
        (Bonus(Rule.EACH, "a", 10_001), "to 100.00"),
    ):
        with pytest.raises(InputError, match=says):
            pay_bonus(study, owner, "demo", wrong)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "paid"), [("500", 0), ("cut before", 0), ("500 after", 1), ("cut after", 1)]
)
def test_a_payment_without_an_answer_is_never_sent_again_by_itself(
    study: Context, owner: Person, stub: ProlificStub, monkeypatch: pytest.MonkeyPatch, fault: str, paid: int
) -> None:
    stub.fail("/pay/", fault)
    stub.lag = True
    report = pay_bonus(study, owner, "demo", THANKS, confirm="pay 4.50 GBP to 3", dry_run=False)
    assert report.failed == 3 and "look up" in report.lines[0].words
    number = list_asked(study, owner, "demo")[-1].id
    # pressed again, under the same name or another: nobody is to be paid until it is known
    for name in ("thanks", "another"):
        dry = pay_bonus(study, owner, "demo", Bonus(Rule.SAME, name, 150))
        assert dry.total == 0 and f"request {number} includes this person" in dry.lines[0].words
    # Prolific pays some minutes later: that none is there at once says nothing
    early = settle(study, owner, "demo", number, confirm=f"request {number} did not happen")
    assert "still open" in early.title and list_bonuses(study, owner) == [Outcome.UNKNOWN]
    stub.arrive()
    monkeypatch.setattr(lookup, "WAIT_MINUTES", -1)
    late = settle(study, owner, "demo", number)
    if not paid:
        assert late.confirm == f"request {number} did not happen"
        settle(study, owner, "demo", number, confirm=late.confirm)
        pay_bonus(study, owner, "demo", THANKS, confirm="pay 4.50 GBP to 3", dry_run=False)
    assert stub.paid == [(one, 150) for one in ALL]
    assert list_bonuses(study, owner)[-1] is Outcome.DONE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "says"),
    [
        ("AWAITING REVIEW", "decide about the reward first"),
        ("ACTIVE", "decide about the reward first"),
        ("RESERVED", "decide about the reward first"),
        ("SCREENED OUT", "another rule"),
        ("PARTIALLY APPROVED", "another rule"),
    ],
)
def test_time_is_paid_only_where_the_reward_is_known(
    study: Context, owner: Person, stub: ProlificStub, status: str, says: str
) -> None:
    stub.studies[next(iter(stub.studies))]["reward"] = 10
    stub.submissions["a1"]["status"] = status
    (line,) = pay_bonus(study, owner, "demo", Bonus(Rule.TIME, "time"), ["a1"]).lines
    assert line.failed and status.lower() in line.words and says in line.words
    # another rule does not rest on the reward
    assert pay_bonus(study, owner, "demo", THANKS, ["a1"]).total == 150
    for ended in ("RETURNED", "TIMED-OUT"):
        stub.submissions["a1"]["status"] = ended
        assert pay_bonus(study, owner, "demo", Bonus(Rule.TIME, "time"), ["a1"]).total == 150


def test_two_owners_at_once_pay_once(study: Context, owner: Person, stub: ProlificStub) -> None:
    def press(number: int) -> None:
        # of one rule under two names, too: what is owed for the time is owed once
        with suppress(CoevalError):
            bonus = Bonus(Rule.SAME, f"thanks {number % 2}", 150)
            pay_bonus(study, owner, "demo", bonus, confirm="pay 4.50 GBP to 3", dry_run=False)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(press, range(8)))
    by_name = Counter(one for one, _ in stub.paid)
    assert all(n <= 2 for n in by_name.values())
    done = [
        one
        for one in list_asked(study, owner, "demo")
        if one.outcome is Outcome.DONE and one.kind is Kind.BONUS
    ]
    assert len({item.key for one in done for item in one.items}) == sum(len(one.items) for one in done)
    assert sum(len(one.items) for one in done) == len(stub.paid)


def test_more_than_two_hundred_are_paid_in_parts(study: Context, owner: Person, stub: ProlificStub) -> None:
    remote = next(iter(stub.studies))
    for number in range(4, 404):
        stub.join(remote, f"a{number}", f"{number:024x}")
        stub.submissions[f"a{number}"]["status"] = "APPROVED"
    dry = pay_bonus(study, owner, "demo", THANKS)
    stub.fail("/bulk2/pay/", "cut after")
    report = pay_bonus(study, owner, "demo", THANKS, confirm=dry.confirm, dry_run=False)
    # the first 200 are paid; the second 200 were cut off, and nothing further was sent after that
    assert [len(bulk) for bulk in stub.bulks.values()] == [200, 200] and report.failed == 203
    assert "not requested because of an earlier error" in report.lines[-1].words and len(stub.paid) == 400


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_no_order_of_faults_pays_anybody_twice(
    study: Context, owner: Person, stub: ProlificStub, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Presses, faults at any request, look-ups and statements in any order; an owner states only what is true."""
    chance = random.Random(seed)
    monkeypatch.setattr(lookup, "WAIT_MINUTES", -1)
    monkeypatch.setattr(bonuses, "MOST_PEOPLE", 2)
    for _ in range(12):
        stub.heal()
        stub.lag = chance.random() < 0.3
        if chance.random() < 0.7:
            stub.fail(
                chance.choice(("/pay/", "/bonus-payments/", "/submissions/", "/submissions/a1/")),
                chance.choice(FAULTS),
            )
        with suppress(CoevalError):
            dry = pay_bonus(study, owner, "demo", THANKS)
            pay_bonus(study, owner, "demo", THANKS, confirm=dry.confirm, dry_run=False)
        if chance.random() < 0.5:
            stub.arrive()
        for one in list_asked(study, owner, "demo"):
            if one.kind is Kind.BONUS and one.outcome in (Outcome.UNKNOWN, Outcome.SENT):
                with suppress(CoevalError):
                    found = settle(study, owner, "demo", one.id)
                    if found.confirm and not any(item.subject in dict(stub.paid) for item in one.items):
                        settle(study, owner, "demo", one.id, confirm=found.confirm)
    most = Counter(one for one, _ in stub.paid)
    assert max(most.values(), default=0) <= 1
    record = [one for one in list_asked(study, owner, "demo") if one.kind is Kind.BONUS]
    # what the record calls done was paid, and what it calls refused or dropped was not
    done = [item.subject for one in record if one.outcome is Outcome.DONE for item in one.items]
    assert set(done) <= set(most) and len(done) == len(set(done))
