"""Planning a study: how many documents and people it needs, and whether it has enough by a rule said beforehand."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coeval.domain import Person
from coeval.domain.studies import Measure, StoppingRule
from coeval.errors import InputError
from coeval.stats.frames import StudyFrames
from coeval.stats.planning.pilot import Assumed, Pilot, pilot_from, pilot_of
from coeval.stats.planning.plan import Plan, Progress, Wanted, follow_rule, plan_study
from coeval.store.queries import stopping_rules
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.statistics import get_statistic

MOST_DOCUMENTS = 100_000


def list_systems(study: StudyFrames) -> list[str]:
    """The systems of a study, in the order of its instances."""
    named = study.instances["system"].replace("", None).dropna()
    return [str(name) for name in dict.fromkeys(named)]


def count_scores(study: StudyFrames) -> int:
    """How many scores there are."""
    return len(study.scored)


@dataclass(frozen=True)
class Planning:
    """A plan, the rules declared (the newest first, which holds), and where the study stands by it."""

    plan: Plan
    rules: list[StoppingRule]
    progress: Progress | None


@use_case(OWNERS)
def get_planning(
    context: Context, person: Person, slug: str, wanted: Wanted, assumed: Assumed | None = None
) -> Planning:
    """See how many documents and people a study needs, from its scores so far or from assumed spreads.

    Raises:
        InputError: a number that cannot be planned for; or there is no pilot: no scores, and nothing assumed.
    """
    with context.store.read() as db:
        rules = stopping_rules.list_stopping_rules(db, require_task(db, slug).id)
    pilot: Pilot = get_statistic(context, person, slug, pilot_of)
    progress = follow_rule(rules[0], pilot) if rules else None
    try:
        plan = plan_study(pilot if assumed is None else pilot_from(assumed), wanted)
    except ValueError as error:
        raise InputError(str(error)) from error
    return Planning(plan, rules, progress)


@use_case(OWNERS)
def declare_rule(context: Context, person: Person, slug: str, rule: StoppingRule) -> StoppingRule:
    """Say when the study will have enough; the rules before stay on record.

    Raises:
        InputError: a width or number that cannot be, or systems the study does not have.
    """
    if not 0 < rule.width <= 100:
        raise InputError(f"A width of {rule.width:g} cannot be: choose one above 0, such as 0.05.")
    if not 0 < rule.planned <= MOST_DOCUMENTS:
        raise InputError(
            f"{rule.planned:,} documents cannot be planned: choose from 1 to {MOST_DOCUMENTS:,}."
        )
    if rule.measure is Measure.DIFFERENCE:
        systems = get_statistic(context, person, slug, list_systems)
        for name in (rule.system_a, rule.system_b):
            if name not in systems:
                raise InputError(
                    f"There is no system “{name[:80]}”; the systems are: {', '.join(systems) or 'none'}."
                )
        if rule.system_a == rule.system_b:
            raise InputError("A difference is of two systems: choose another one beside the first.")
    else:
        rule = replace(rule, system_a="", system_b="")
    declared = replace(rule, scores_then=get_statistic(context, person, slug, count_scores))
    with context.store.write() as db:
        task = require_task(db, slug)
        stopping_rules.record_stopping_rule(db, task.id, declared, person.name)
        return stopping_rules.list_stopping_rules(db, task.id)[0]


@use_case(OWNERS)
def list_plan_systems(context: Context, person: Person, slug: str) -> list[str]:
    """See which systems a difference can be planned for."""
    systems: list[str] = get_statistic(context, person, slug, list_systems)
    return systems
