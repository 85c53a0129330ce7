"""Saving a plan saves it; running the study is an act of its own, which says who can work, where, and the cost."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from statistics import median

import pytest

from coeval.datasets.example_studies import SLUG, load_finished_example
from coeval.domain import Person, Plan, Proof, Standing, StudyState, Terms
from coeval.errors import ElsewhereError, InputError, NotAllowedError
from coeval.store.queries import crowd_studies as stored_plans
from coeval.usecases.access import Context
from coeval.usecases.crowd import entry, onboarding, overview, plans
from coeval.usecases.crowd.participant_state import Situation
from coeval.usecases.crowd.plans import tell_run
from coeval.usecases.scrutiny.steps import get_step, submit
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import FINISHED, import_study
from tests.conftest import make_study
from tests.support.studies.crowd_links import link, sealed
from tests.usecases.crowd.test_assignment import answer, places, work

TERMS = Terms(service="prolific", code_done="DONE1", proof=Proof.TOKEN, hourly_rate=12)
PLAN = Plan(StudyState.PLANNED, per_instance=2, batch=2, quota=4, terms=TERMS)


@pytest.fixture
def member(context: Context, owner: Person) -> Person:
    """A member of the team who did two of six instances before a plan was saved."""
    import_study(context, owner, make_study(3))
    ana, _ = sign_in(context, "Ana")
    assert len(work(context, ana, limit=2)) == 2
    plans.set_plan(context, owner, "demo", PLAN)
    return ana


def test_a_saved_plan_changes_nothing_for_the_team(context: Context, owner: Person, member: Person) -> None:
    plans.set_plan(context, owner, "demo", replace(PLAN, quota=5))
    assert get_step(context, member, "demo").total == 6 and len(work(context, member, limit=1)) == 1
    assert get_step(context, owner, "demo").total == 6 and not places(context)
    with pytest.raises(entry.ShutError, match="not accepting new people"):
        entry.arrive(context, "demo", sealed(context, "demo", link(1)))
    for state in (StudyState.PAUSED, StudyState.CLOSED, StudyState.PLANNED):
        with pytest.raises(InputError, match="run it first"):
            plans.set_state(context, owner, "demo", state)


def test_running_says_who_works_where_and_the_cost(context: Context, owner: Person, member: Person) -> None:
    preview = plans.preview_run(context, owner, "demo")
    assert (preview.places, preview.begun, preview.shut_out) == (10, 2, ("Ana",))
    assert preview.cost_per_minute == pytest.approx(10 * 12 / 60)
    said = " ".join(tell_run(preview))
    assert "Participants from Prolific can join" in said and "s/demo?PROLIFIC_PID" in said
    assert "Ana now works on this task" in said and "10 instances" in said and "2.00 GBP" in said
    assert "2 more are begun or done" in said and "The team's part then ends" in said
    plan = plans.get_plan(context, owner, "demo")
    assert plan and plan.state is StudyState.PLANNED
    submit(context, owner, "demo", answer(get_step(context, owner, "demo")))  # one of two criteria
    cost = plans.tell_cost(plans.preview_run(context, owner, "demo"))
    spread = overview.get_overview(context, owner, "demo").places
    counts = [(done * n, taken * n) for done, taken, n in spread]
    assert [sum(column) for column in zip(*counts, strict=True)] == [2, 3]  # Ana finished two
    plans.set_state(context, owner, "demo", StudyState.RUNNING)
    assert spread == overview.get_overview(context, owner, "demo").places
    assert cost == plans.tell_cost(plans.preview_run(context, owner, "demo"))


def test_the_minutes_are_those_of_the_newest_saves_alone(context: Context, owner: Person) -> None:
    import_study(context, owner, load_finished_example(FINISHED))
    with context.store.read() as db:
        everything = stored_plans.list_latest_seconds(db, 1, most=10_000)
        assert stored_plans.list_latest_seconds(db, 1, most=5) == everything[:5] != everything[-5:]
    preview = plans.preview_run(context, owner, SLUG, PLAN)
    assert len(everything) > 100 and preview.minutes == pytest.approx(3 * median(everything[:1000]) / 60)


def test_a_study_that_runs_counts_the_teams_work_and_leaves_the_task_open_to_owners(
    context: Context, owner: Person, member: Person
) -> None:
    step = get_step(context, owner, "demo")
    submit(context, owner, "demo", answer(step))  # one of two criteria
    plans.set_state(context, owner, "demo", StudyState.RUNNING)
    assert sum(places(context).values()) == 3  # two that Ana finished, and one that the owner began
    with pytest.raises(NotAllowedError, match="the team's part is over"):
        get_step(context, member, "demo")
    assert get_step(context, owner, "demo").total == 6
    assert len(work(context, owner, limit=5)) == 5
    person, _ = entry.arrive(context, "demo", sealed(context, "demo", link(1)))
    onboarding.begin(context, person, "demo")
    assert len(work(context, person)) == 4
    assert max(places(context).values()) == 2
    for state in (StudyState.PAUSED, StudyState.CLOSED):
        plans.set_state(context, owner, "demo", state)
        assert get_step(context, owner, "demo").total == 6
    assert [row.state for row in overview.get_overview(context, owner, "demo").people] == [Standing.FINISHED]


def test_a_member_who_had_begun_an_instance_joins_and_goes_on(
    context: Context, owner: Person, member: Person
) -> None:
    """The instance that they had opened filled their place: the study told them that it was full."""
    submit(context, member, "demo", answer(get_step(context, member, "demo")))  # one of two criteria
    terms = replace(TERMS, service="", proof=Proof.NONE)
    plans.set_plan(context, owner, "demo", replace(PLAN, terms=terms))
    plans.set_state(context, owner, "demo", StudyState.RUNNING)
    with pytest.raises(ElsewhereError, match="on the study's page") as refused:
        get_step(context, member, "demo")
    assert refused.value.link == "s/demo"
    onboarding.consent(context, member, "demo")
    assert onboarding.get_visit(context, member, "demo").situation is Situation.GUIDELINES
    onboarding.begin(context, member, "demo")
    assert len(work(context, member)) == 2


KILLED = """
import os, sys
from pathlib import Path
from coeval.domain import StudyState
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.queries import crowd_studies
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import plans
crowd_studies.adopt_queues = lambda *values: os._exit(9)
path = Path(sys.argv[1])
plans.set_state(Context(Store(path), load_settings({}, db=path)), OPERATOR, "demo", StudyState.RUNNING)
"""


@pytest.mark.sqlite  # another process opens the file
def test_a_kill_leaves_the_plan(context: Context, owner: Person, member: Person) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(context.settings.db)], check=False)
    plan = plans.get_plan(context, owner, "demo")
    assert killed.returncode == 9 and plan and plan.state is StudyState.PLANNED and not places(context)
    assert len(work(context, member, limit=1)) == 1
    plans.set_state(context, owner, "demo", StudyState.RUNNING)
    assert sum(places(context).values()) == 3
