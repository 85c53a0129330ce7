"""Plans of studies: the documents that they need, and the progress under a stopping rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coeval.domain import Person
from coeval.domain.studies import StoppingRule
from coeval.errors import InputError
from coeval.stats.frames import StudyFrames
from coeval.stats.plan import Finished, Pilot, Plan, Progress, Wanted, follow_rule, pilot_of, plan_study
from coeval.store.queries import tasks, teams
from coeval.store.queries.teams import list_asked_instances
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.reports.statistics import get_statistic
from coeval.usecases.scrutiny.design import count_people

MOST_DOCUMENTS = 100_000


def list_systems(study: StudyFrames) -> list[str]:
    """Return the systems of a study, in the order of its instances."""
    named = study.instances["system"].replace("", None).dropna()
    return [str(name) for name in dict.fromkeys(named)]


def count_scores(study: StudyFrames) -> int:
    return len(study.scored)


def count_documents(study: StudyFrames) -> int:
    return int(study.instances["document"].nunique())


@dataclass(frozen=True)
class Planning:
    """A plan, the declared stopping rules (the newest first, which applies), and the progress under it.

    ``documents`` is the number of documents in the task.
    """

    plan: Plan
    rules: list[StoppingRule]
    progress: Progress | None
    documents: int = 0


@use_case(OWNERS)
def get_planning(context: Context, person: Person, slug: str, wanted: Wanted) -> Planning:
    """Return how many documents a study needs, from its scores so far.

    Raises:
        InputError: a number is out of range.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        rules = teams.list_stopping_rules(db, task.id)
        people = count_people(db, task.id)
        instances = [tasks.get_instance(db, instance) for instance in list_asked_instances(db, task.id)]
        asked = frozenset(instance.external_id for instance in instances if instance)
    pilot: Pilot = get_statistic(context, person, slug, pilot_of)
    progress = None
    if rules:
        finished: Pilot = get_statistic(context, person, slug, Finished(people, asked))
        progress = follow_rule(rules[0], finished, people=people, begun=pilot.scored)
    try:
        plan = plan_study(pilot, wanted)
    except ValueError as error:
        raise InputError(str(error)) from error
    documents = get_statistic(context, person, slug, count_documents)
    return Planning(plan, rules, progress, documents)


@use_case(OWNERS)
def has_rule(context: Context, person: Person, slug: str) -> bool:
    """Return whether a stopping rule is declared for the study."""
    with context.store.read() as db:
        return bool(teams.list_stopping_rules(db, require_task(db, slug).id))


@use_case(OWNERS)
def declare_rule(context: Context, person: Person, slug: str, rule: StoppingRule) -> StoppingRule:
    """Declare when the study has enough data; earlier rules stay on record.

    Raises:
        InputError: a width or number is out of range, or the study lacks one of the systems.
    """
    if not 0 < rule.width <= 100:
        raise InputError(f"The width is {rule.width:g}: choose one above 0, such as 0.3.")
    if not 0 < rule.planned <= MOST_DOCUMENTS:
        raise InputError(f"The number of documents is {rule.planned:,}: choose 1 to {MOST_DOCUMENTS:,}.")
    systems = get_statistic(context, person, slug, list_systems)
    for name in (rule.system_a, rule.system_b):
        if name not in systems:
            raise InputError(
                f"There is no system “{name[:80]}”; the systems are: {', '.join(systems) or 'none'}."
            )
    if rule.system_a == rule.system_b:
        raise InputError("A difference needs two systems: choose a second one.")
    declared = replace(rule, scores_then=get_statistic(context, person, slug, count_scores))
    with context.store.write() as db:
        task = require_task(db, slug)
        teams.record_stopping_rule(db, task.id, declared, person.name)
        return teams.list_stopping_rules(db, task.id)[0]


@use_case(OWNERS)
def list_plan_systems(context: Context, person: Person, slug: str) -> list[str]:
    """Return the systems for which a difference can be planned."""
    systems: list[str] = get_statistic(context, person, slug, list_systems)
    return systems
