"""Giving out a crowd study's work: places, batches, quotas, time-outs, and arms that balance.

Who asks for work is served inside one ``BEGIN IMMEDIATE`` transaction: what has timed out is taken back, free
places are counted, and the person's new ones are taken. However many ask at once, they are served one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from coeval.clock import time_from_now
from coeval.domain import Arm, Person, Plan, Standing, StudyState, Task
from coeval.errors import NotAllowedError
from coeval.language import tr
from coeval.rules.arms import Design, draw_order
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.crowd import answer_keys, holdings, reservations
from coeval.store.queries.crowd import plans as stored_plans
from coeval.store.queries.people import enrolments
from coeval.store.queries.scrutiny import assignments
from coeval.study.access import Context
from coeval.study.crowd.exams import begin_try
from coeval.study.crowd.grading import grade_checks

WORKING = (Standing.ADMITTED, Standing.FINISHED)


def ensure_work(context: Context, person: Person, task: Task) -> bool:
    """Give the person their next batch where the task is given out by a plan; whether it is.

    Raises:
        NotAllowedError: the person is not admitted to the study, or it is closed.
    """
    with context.store.read() as db:
        plan = stored_plans.get_plan(db, task.id)
        study = answer_keys.find_study_of_exam(db, person.id, task.id) if plan is None else None
    if study is not None:
        _ensure_items(context, person, study)
    if plan is None:
        return study is not None
    with context.store.read() as db:
        _check_admitted(db, plan, person, task)
        if holdings.is_holding(db, person.id, task.id):
            return True
    with context.store.write() as db:
        give_work(db, plan, person, task)
    with context.store.read() as db:
        _check_admitted(db, plan, person, task)
    return True


def _ensure_items(context: Context, person: Person, study: int) -> None:
    """Give a person the items of the exam they take, unless they have them."""
    with context.store.read() as db:
        attempt = answer_keys.count_attempts(db, study, person.id) + 1
        if answer_keys.list_items(db, study, person.id, attempt):
            return
    with context.store.write() as db:
        plan, task = stored_plans.get_plan(db, study), tasks.get_task_by_id(db, study)
        if plan is not None and task is not None and plan.exam is not None:
            begin_try(db, plan, person, task)


def give_work(db: Database, plan: Plan, person: Person, task: Task) -> int:
    """Take back what has timed out, then give the person a batch unless they hold one; its size."""
    reservations.renew(db, person.id, task.id, _until(plan))
    _take_back_due(db, plan, task)
    if not grade_checks(db, plan, person, task) or holdings.has_open(db, person.id, task.id):
        return 0
    standing = enrolments.get_enrolment(db, task.id, person.id)
    if standing is None or standing.state is not Standing.ADMITTED:
        return 0  # who has finished has their code: what comes free later is others'
    seed, runs = tasks.get_seed(db, task.id), plan.state is StudyState.RUNNING
    room = holdings.count_room(db, person.id, task.id, plan.quota)
    # another hash for each draw: what came first by one of them would come first by it again
    checks = draw_order(f"{seed}:check", person.id, reservations.list_new_checks(db, person.id, task.id))[:1]
    batch = _pick(db, plan, person, task, room - len(checks)) if runs else []
    if not batch and checks and runs:  # there is no room for both
        batch, checks = _pick(db, plan, person, task, room), []
    if not batch:
        if runs or room <= 0 or plan.reason:
            _finish(db, person, task)
        return 0
    reservations.add_reservations(db, person.id, task.id, batch, "work", _until(plan))
    reservations.add_reservations(db, person.id, task.id, checks, "check", _until(plan))
    assignments.add_assignments(
        db, person.id, task.id, draw_order(f"{seed}:place", person.id, [*batch, *checks])
    )
    return len(batch)


def _until(plan: Plan) -> str:
    return time_from_now(timedelta(minutes=plan.reserve_minutes))


def _take_back_due(db: Database, plan: Plan, task: Task) -> None:
    """End what was left lying; whoever saved something lately is at work and keeps what they hold."""
    reservations.note_finished(db, task.id)
    at_work = time_from_now(-timedelta(minutes=plan.reserve_minutes))
    for annotator, last_save in reservations.list_due(db, task.id).items():
        if last_save > at_work:
            reservations.renew(db, annotator, task.id, _until(plan))
        else:
            reservations.take_back(db, annotator, task.id, reservations.TIMED_OUT)


def _pick(db: Database, plan: Plan, person: Person, task: Task, room: int) -> list[int]:
    """The person's next instances: those that fewest people have, in an order of the person's own."""
    if room <= 0:
        return []
    free = reservations.list_free(db, person.id, task.id, plan.per_instance)
    order = draw_order(tasks.get_seed(db, task.id), person.id, (instance for _, instance in free))
    rank = {instance: n for n, instance in enumerate(order)}
    ranked = sorted(free, key=lambda pair: (pair[0], rank[pair[1]]))
    return [instance for _, instance in ranked[: min(plan.batch, room)]]


def _finish(db: Database, person: Person, task: Task) -> None:
    """Note the end of a person's work, once they did any."""
    done = holdings.count_work(db, person.id, task.id).get(reservations.FINISHED, 0)
    if done:
        enrolments.record_step(db, task.id, person.id, Standing.FINISHED, person.name, f"{done} instances")


def _check_admitted(db: Database, plan: Plan, person: Person, task: Task) -> None:
    standing = enrolments.get_enrolment(db, task.id, person.id)
    state = standing.state if standing else None
    if state is Standing.WARNED:
        raise NotAllowedError(
            tr("You missed an attention check: open the study's page, read the note, and go on.")
        )
    if state not in WORKING:
        raise NotAllowedError(
            tr(
                "“{name}” gives out its work through the study's page, s/{slug}: start there.",
                name=task.name,
                slug=task.slug,
            )
        )
    _check_open(plan, task)


def check_saving(db: Database, person: Person, task: Task, instance: int) -> None:
    """Refuse a save to a study that is closed, by somebody who may not work at it, or of what went to others.

    Raises:
        NotAllowedError: so it is.
    """
    plan = stored_plans.get_plan(db, task.id)
    if plan is None:
        return
    _check_admitted(db, plan, person, task)
    if reservations.get_outcome(db, person.id, instance) == reservations.TIMED_OUT:
        raise NotAllowedError(
            tr(
                "The {minutes} minutes for this one ran out, and somebody else was given it. What you "
                "confirmed before is saved; what stands here can still be copied. Press “Go on” for what is "
                "next.",
                minutes=plan.reserve_minutes,
            )
        )


def note_saved(db: Database, person: Person, task: Task) -> None:
    """Note at once what a save has finished; a study that has all it needs then pauses by itself."""
    plan = stored_plans.get_plan(db, task.id)
    if plan is None or not reservations.note_finished(db, task.id, annotator=person.id):
        return
    if plan.state is StudyState.RUNNING and reservations.is_full(db, task.id, plan.per_instance):
        stored_plans.set_plan(db, task.id, replace(plan, state=StudyState.PAUSED, reason="full"))


def _check_open(plan: Plan, task: Task) -> None:
    if plan.state is StudyState.CLOSED:
        raise NotAllowedError(
            tr("“{name}” is closed and takes no more work. What you saved is kept.", name=task.name)
        )


def draw_balanced_arm(db: Database, task: Task, person: Person, instance: int, design: Design) -> Arm | None:
    """The arm that the study and this person are furthest behind with; None outside a plan.

    After any number of draws no arm is more than about one from its share, for the person and the whole study
    together; without the study, what is rounded for a person would add up. Who comes second to an instance that one
    person sees without a draft is likely to as well: agreement needs two. Ties go by the hash that draws everywhere
    else, so that nobody can foresee them. Attention checks take nothing from the work's arms.
    """
    keys = answer_keys.list_keys_of(db, instance)
    if stored_plans.get_plan(db, task.id) is None:
        # an exam asks what becomes of the draft; a check of a plan must look like the work around it
        return Arm.ASSISTED if keys else None
    shares = {Arm.BLIND: design.blind_share, Arm.FIRST: design.first_share}
    shares[Arm.ASSISTED] = 1 - design.blind_share - design.first_share
    counts = [holdings.count_arms(db, "annotator", person.id, task.id), holdings.count_all_arms(db, task.id)]
    here = holdings.count_arms(db, "instance", instance, task.id)
    behind = {
        arm: sum(_behind(arm, share, counted) for counted in counts) + _weigh_partner(arm, share, here)
        for arm, share in shares.items()
        if share
    }
    most = max(behind.values())
    tied = [arm for arm in shares if arm in behind and behind[arm] > most - 1e-9]
    seed = tasks.get_seed(db, task.id)
    if keys:
        # everybody gets checks, few get the same work: balanced over its people, a check would keep to other arms.
        # Only here, after the same questions as for work, so that opening one takes as long
        return None
    return tied[draw_order(f"{seed}:arm:{instance}", person.id, range(len(tied)))[0]]


def _behind(arm: Arm, share: float, counts: Mapping[Arm, int]) -> float:
    """How many draws an arm is short of its share, once there is one more."""
    return share * (sum(counts.values()) + 1) - counts.get(arm, 0)


PARTNER = 2.0
"""How much an instance's own arms weigh beside those of the person and of the study."""


def _weigh_partner(arm: Arm, share: float, here: Mapping[Arm, int]) -> float:
    """For an arm without a draft that one person has alone; against an arm that the instance has too often."""
    if arm is not Arm.ASSISTED and here.get(arm, 0) % 2:
        return PARTNER
    return PARTNER * min(0.0, _behind(arm, share, here))


def get_guidelines(db: Database, person: Person, task: Task) -> str:
    """The guidelines of the study that a person works at, or whose exam they take; else the task's own."""
    plan = stored_plans.get_plan(db, task.id)
    if plan is None:
        study = answer_keys.find_study_of_exam(db, person.id, task.id)
        plan = stored_plans.get_plan(db, study) if study is not None else None
    pages = plan.terms.guidelines.split("\n---\n") if plan else []
    return "\n\n".join(page.strip() for page in pages if page.strip()) or task.guidelines
