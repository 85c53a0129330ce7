"""Submissions seen live, approved, returned and rejected by Prolific's rules: each on record."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace

import pytest

from coeval.domain import Participant, Person, Standing
from coeval.errors import InputError
from coeval.extensions.prolific import api
from coeval.extensions.prolific.queries import Kind, Outcome
from coeval.extensions.prolific.requests_log import export_asked, list_asked, settle
from coeval.extensions.prolific.submissions import Category, Verdict, find_obstacle, get_live, review
from coeval.usecases.access import Context
from tests.support.hosting.prolific_stub import TOKEN, ProlificStub, serving_prolific
from tests.support.studies import prolific_study
from tests.support.studies.prolific_study import open_study, publish, take_part

WHY = "=The conclusions do not fit the texts: in all four of them the first line was kept, which is on another text."


@pytest.fixture
def stub() -> Iterator[ProlificStub]:
    with serving_prolific() as running:
        yield running


@pytest.fixture
def study(context: Context, owner: Person, stub: ProlificStub, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.setattr(api, "PAUSE", 0.0)
    open_study(context)
    study = prolific_study.with_token(context, stub)
    remote = publish(study, owner, stub)
    for number in (1, 2, 3):
        take_part(study, stub, remote, number)
    return study


def test_submissions_stand_beside_what_their_people_did(
    study: Context, owner: Person, stub: ProlificStub
) -> None:
    stub.join(next(iter(stub.studies)), "elsewhere", "f" * 24)
    live = get_live(study, owner, "demo")
    assert [(entry.remote.id, entry.remote.status) for entry in live.entries] == [
        (one, "AWAITING REVIEW") for one in ("a1", "a2", "a3", "elsewhere")
    ]
    assert [entry.row.participant.finished if entry.row else None for entry in live.entries] == [
        4,
        4,
        4,
        None,
    ]
    assert [entry.suggested for entry in live.entries] == [True, True, True, False]
    stub.submissions["a2"]["status"] = "RETURNED"
    assert get_live(study, owner, "demo").entries[1].remote.status == "RETURNED"


THREE = ("a1", "a2", "a3")
"""The submissions that are suggested for approval."""


def test_all_that_are_suggested_are_approved_and_paid_once(
    study: Context, owner: Person, stub: ProlificStub
) -> None:
    dry = review(study, owner, "demo", Verdict.APPROVE, THREE)
    assert (dry.total, dry.currency, dry.dry, stub.approved) == (900, "GBP", True, [])
    stub.fail("a2/transition/", "cut after")
    stub.fail("a3/transition/", "500", 4)
    report = review(study, owner, "demo", Verdict.APPROVE, THREE, dry_run=False)
    # the third had no answer by the fourth try; that does not keep the others
    assert (report.total, report.failed, stub.approved) == (600, 1, ["a1", "a2"])
    again = review(study, owner, "demo", Verdict.APPROVE, THREE, dry_run=False)
    assert [line.failed for line in again.lines] == [False, True, True] and "is approved" in again.lines[
        1
    ].words
    assert stub.approved == ["a1", "a2", "a3"]
    approvals = [one for one in list_asked(study, owner, "demo") if one.kind is Kind.APPROVE]
    assert [one.outcome for one in approvals] == [Outcome.DONE, Outcome.DONE, Outcome.UNKNOWN, Outcome.DONE]
    assert "4 instances finished" in approvals[0].note and approvals[0].asked_by == owner.name
    assert settle(study, owner, "demo", approvals[2].id).title.endswith("was done")


def test_a_rejection_keeps_to_the_rules(study: Context, owner: Person, stub: ProlificStub) -> None:
    for category, message, says in (
        ("LAZY", WHY, "not one of Prolific's categories"),
        ("LOW_EFFORT", "Not good.", "has 9 characters: Prolific requires at least 100"),
    ):
        with pytest.raises(InputError, match=says):
            review(
                study,
                owner,
                "demo",
                Verdict.REJECT,
                ["a1"],
                category=category,
                message=message,
                dry_run=False,
            )
    assert stub.approved == []
    with pytest.raises(InputError, match="no submission “zz”"):
        review(study, owner, "demo", Verdict.APPROVE, ["a1", "zz"], dry_run=False)
    for category in ("FAILED_CHECK", "TOO_QUICKLY"):
        kept = review(
            study, owner, "demo", Verdict.REJECT, ["a1"], category=category, message=WHY, dry_run=False
        )
        assert kept.failed == 1 and "approve, or ask to return" in kept.lines[0].words
    assert not stub.count("transition/") - 1
    rejected = review(
        study, owner, "demo", Verdict.REJECT, ["a1"], category="LOW_EFFORT", message=WHY, dry_run=False
    )
    assert rejected.failed == 0 and stub.submissions["a1"]["status"] == "REJECTED" and rejected.total == 0
    note = list_asked(study, owner, "demo")[-1].note
    assert note.startswith("LOW_EFFORT; =The") and "4 instances finished" in note


SOMEBODY = Participant(1, "a", Standing.FINISHED, "", "", "", 10.0, finished=4, checks=4)


@pytest.mark.parametrize(
    ("category", "failed", "minutes", "seconds", "allowed"),
    [
        # from five minutes on two failed checks are needed, below one
        (Category.FAILED_CHECK, 1, 5, 600, False),
        (Category.FAILED_CHECK, 2, 5, 600, True),
        (Category.FAILED_CHECK, 1, 4.9, 600, True),
        (Category.FAILED_CHECK, 0, 4.9, 600, False),
        # mean 600, standard deviation 60 of five times: what is below 420 is too quick
        (Category.TOO_QUICKLY, 0, 10, 430, False),
        (Category.TOO_QUICKLY, 0, 10, 400, True),
        (Category.LOW_EFFORT, 0, 10, 600, True),
    ],
)
def test_what_may_be_rejected(
    category: Category, failed: int, minutes: float, seconds: float, allowed: bool
) -> None:
    # deviations -90, -30, 0, 30, 90: the sum of squares is 18,000, a quarter of it 4,500, its root 67
    times = [510, 570, 600, 630, 690]
    if seconds == 400:
        seconds = 390
    obstacle = find_obstacle(category, replace(SOMEBODY, failed=failed), seconds, times, minutes)
    assert (obstacle == "") is allowed


def test_a_prolific_that_does_not_answer_stops_the_rest(
    study: Context, owner: Person, stub: ProlificStub
) -> None:
    stub.fail("/transition/", "500", 4)
    report = review(study, owner, "demo", Verdict.APPROVE, THREE, dry_run=False)
    assert report.failed == 3 and "look up" in report.lines[0].words
    assert all(line.words.startswith("not requested: ") for line in report.lines[1:])
    assert stub.count("a1/transition/") == 4 and not stub.count("a2/transition/")


def test_the_record_says_who_asked_for_what_and_holds_no_token(
    study: Context, owner: Person, stub: ProlificStub
) -> None:
    review(study, owner, "demo", Verdict.APPROVE, ["a2"], dry_run=False)
    review(study, owner, "demo", Verdict.REJECT, ["a1"], category="LOW_EFFORT", message=WHY, dry_run=False)
    text = export_asked(study, owner, "demo")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["kind"] for row in rows] == ["draft", "publish", "approve", "reject"]
    approval = rows[2]
    assert (approval["asked_by"], approval["subject"], approval["amount"], approval["currency"]) == (
        owner.name, "a2", "3.00", "GBP",
    )  # fmt: skip
    assert (approval["outcome"], rows[1]["amount"]) == ("done", "9.00") and approval["asked_at"]
    assert TOKEN not in text
    with study.store.read() as db:
        for table in ("prolific_request", "prolific_item", "prolific_step"):
            assert TOKEN not in str(list(db.query(f"SELECT * FROM {table}")))
