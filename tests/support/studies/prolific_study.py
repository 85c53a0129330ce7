"""A study that is given out by Prolific links, and people who did it here and at the stand-in."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from coeval.clock import time_from_now
from coeval.domain import Person, Plan, Proof, Terms
from coeval.extensions.prolific.publication import Draft, draft_study, publish_study
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import entry, onboarding, plans
from coeval.usecases.scrutiny.steps import get_step
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.hosting.prolific_stub import TOKEN, ProlificStub
from tests.support.studies.crowd_links import link, pid, sealed
from tests.support.studies.scrutiny_steps import save

PUBLIC = "https://coeval.example.org"
TERMS = Terms(
    service="prolific", code_done="DONE1", code_screened="OUT1", code_declined="NO1", code_blocked="BLOCKED1",
    hourly_rate=9, currency="GBP", proof=Proof.LINK,
)  # fmt: skip
PLAN = Plan(per_instance=3, batch=4, quota=4, terms=TERMS)


def with_token(context: Context, stub: ProlificStub) -> Context:
    settings = replace(context.settings, prolific_api=stub.url, prolific_token=TOKEN, public_url=PUBLIC)
    return replace(context, settings=settings)


def open_study(context: Context, plan: Plan = PLAN, n_documents: int = 2) -> None:
    """``demo``: two instances a document, two criteria."""
    import_study(context, OPERATOR, make_study(n_documents))
    plans.set_plan(context, OPERATOR, "demo", plan)


def publish(
    context: Context, owner: Person, stub: ProlificStub, *, minutes: float = 20, places: int = 3
) -> str:
    """Draft and publish the study; gives its id."""
    draft_study(context, owner, "demo", Draft(minutes=minutes, places=places), dry_run=False)
    publish_study(context, owner, "demo", confirm=f"publish demo for {places} people", dry_run=False)
    return list(stub.studies)[-1]


def take_part(
    context: Context, stub: ProlificStub, study: str, number: int, *, minutes: float = 10, instances: int = 4
) -> Person:
    """Somebody comes by Prolific, does so many instances in so many minutes, and enters the code there.

    Their submission is ``a1`` for number 1, as its link says.
    """
    one = sealed(context, "demo", link(number, study=study))
    person, _ = entry.arrive(context, "demo", one)
    onboarding.begin(context, person, "demo")
    for _ in range(instances * 2):
        step = get_step(context, person, "demo")
        if step.instance is None:
            break
        save(context, person, step, 3 + number % 3)
    if instances >= PLAN.quota:
        # the page after the last one says that they are through
        get_step(context, person, "demo")
    with context.store.write() as db:
        began = time_from_now(-timedelta(minutes=minutes))
        db.conn.execute("UPDATE arrival SET at = ? WHERE annotator = ?", [began, person.id])
    stub.join(study, one.session, pid(number), minutes=minutes)
    return person
