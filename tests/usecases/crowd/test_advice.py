"""What is suggested about a submission: every ground stands in the row, and pay is for the whole time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coeval.domain import Participant, Plan, Standing, StudyState, Terms
from coeval.rules.screening import Habits, find_habits
from coeval.usecases.crowd.overview import Advice, Usual
from coeval.usecases.crowd.overview import advise as advise_part
from coeval.usecases.crowd.participant_state import build_part
from tests.support.studies.draft_saves import Save, in_columns

PLAN = Plan(
    terms=Terms(service="prolific", code_done="DONE1", code_screened="OUT1", hourly_rate=9, warn_after=1)
)
DONE = Participant(
    1, "a", Standing.FINISHED, "", "", "", active_minutes=20.0, finished=10, saves=20, wall_minutes=30.0
)


def habits(n: int, *, kept: bool, caught: int, planted: int) -> Habits:
    saves = [Save("a", kept, False, 30.0, n_ < caught if n_ < planted else None) for n_ in range(n)]
    return find_habits(in_columns(saves))[0]


def advise(plan: Plan, one: Participant, how: Habits | None, usual: Usual) -> Advice:
    return advise_part(plan, one, build_part(plan, one, 10, True), how, usual)


CAREFUL = habits(20, kept=False, caught=4, planted=4)


def test_careful_work_is_approved_with_its_grounds() -> None:
    found = advise(PLAN, replace(DONE, checks=2), CAREFUL, Usual(2.0, 3.0))
    assert (found.suggestion, found.code) == ("approve", "DONE1")
    for ground in (
        "10 instances",
        "30.0 minutes",
        "20.0 of them active",
        "0 of 2 attention",
        "4 of 4 planted",
    ):
        assert ground in found.evidence
    assert found.pay == 4.5  # half an hour at 9.00, not the 20 active minutes


@pytest.mark.parametrize(
    ("one", "how", "says"),
    [
        # who keeps every line and catches none of four planted errors, as a rubber stamp would
        (DONE, habits(20, kept=True, caught=0, planted=4), "under half of the planted errors"),
        (DONE, habits(12, kept=True, caught=0, planted=0), "every line kept"),
        (replace(DONE, checks=2, failed=1), CAREFUL, "attention checks failed"),
        (replace(DONE, active_minutes=5.0), CAREFUL, "median active time"),
        (replace(DONE, wall_minutes=6.0), CAREFUL, "median whole time"),
    ],
)
def test_doubtful_work_is_to_be_looked_at(one: Participant, how: Habits, says: str) -> None:
    found = advise(PLAN, one, how, Usual(2.0, 3.0))
    assert found.suggestion == "look" and says in found.evidence and found.code == "DONE1"


def test_who_was_stopped_is_paid_for_their_time_too() -> None:
    out = replace(
        DONE, state=Standing.SCREENED_OUT, note="1 of 4 right, try 2", wall_minutes=8.0, finished=0, saves=0
    )
    found = advise(PLAN, out, None, Usual())
    assert (found.suggestion, found.code, found.pay) == ("screen out", "OUT1", 1.2)
    closed = advise(
        replace(PLAN, state=StudyState.CLOSED), replace(DONE, state=Standing.ADMITTED), CAREFUL, Usual()
    )
    assert (closed.suggestion, closed.code) == ("approve", "DONE1")
