"""Giving out a crowd study's work: places, batches, quotas, time-outs, and arms that balance.

Who asks for work is served inside one ``BEGIN IMMEDIATE`` transaction: what has timed out is taken back, free
places are counted, and the person's new ones are taken. However many ask at once, they are served one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from coeval.clock import time_from_now
from coeval.domain import Arm, Person, Plan, Standing, StudyState, Task
from coeval.errors import NotAllowedError
from coeval.rules.arms import Design, draw_order
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.crowd import answer_keys, reservations
from coeval.store.queries.people import enrolments
from coeval.store.queries.scrutiny import assignments
from coeval.study.access import Context
from coeval.study.crowd.grading import grade_checks

WORKING = (Standing.ADMITTED, Standing.FINISHED)


def ensure_work(context: Context, person: Person, task: Task) -> bool:
    """Give the person their next batch where the task is given out by a plan; whether it is.

    Raises:
        NotAllowedError: the person is not admitted to the study, or it is closed.
    """
    with context.store.read() as db:
        plan = reservations.get_plan(db, task.id)
        if plan is None:
            return False
        _check_admitted(db, plan, person, task)
        if reservations.is_holding(db, person.id, task.id):
            return True
    with context.store.write() as db:
        give_work(db, plan, person, task)
    with context.store.read() as db:
        _check_admitted(db, plan, person, task)
    return True


def give_work(db: Database, plan: Plan, person: Person, task: Task) -> int:
    """Take back what has timed out, then give the person a batch unless they hold one; its size."""
    reservations.renew(db, person.id, task.id, _until(plan))
    _take_back_due(db, plan, task)
    if not grade_checks(db, plan, person, task):
        return 0
    if plan.state is not StudyState.RUNNING or reservations.has_open(db, person.id, task.id):
        return 0
    seed = tasks.get_seed(db, task.id)
    # another hash for each draw: what came first by one of them would come first by it again
    checks = draw_order(f"{seed}:check", person.id, reservations.list_new_checks(db, person.id, task.id))[:1]
    batch = _pick(db, plan, person, task, len(checks))
    if not batch and checks:  # there is no room for both
        batch, checks = _pick(db, plan, person, task, 0), []
    if not batch:
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


def _pick(db: Database, plan: Plan, person: Person, task: Task, n_checks: int) -> list[int]:
    """The person's next instances beside the checks: those that fewest people have, in an order of the person's own."""
    work = reservations.count_work(db, person.id, task.id)
    room = plan.quota - work.get(reservations.HELD, 0) - work.get(reservations.FINISHED, 0) - n_checks
    if room <= 0:
        return []
    free = reservations.list_free(db, person.id, task.id, plan.per_instance)
    order = draw_order(tasks.get_seed(db, task.id), person.id, (instance for _, instance in free))
    rank = {instance: n for n, instance in enumerate(order)}
    ranked = sorted(free, key=lambda pair: (pair[0], rank[pair[1]]))
    return [instance for _, instance in ranked[: min(plan.batch, room)]]


def _finish(db: Database, person: Person, task: Task) -> None:
    """Note the end of a person's work, once they did any; what comes free later is others'."""
    before = enrolments.get_enrolment(db, task.id, person.id)
    done = reservations.count_work(db, person.id, task.id).get(reservations.FINISHED, 0)
    if done and before is not None and before.state is Standing.ADMITTED:
        enrolments.record_step(db, task.id, person.id, Standing.FINISHED, person.name, f"{done} instances")


def _check_admitted(db: Database, plan: Plan, person: Person, task: Task) -> None:
    standing = enrolments.get_enrolment(db, task.id, person.id)
    state = standing.state if standing else None
    if state is Standing.WARNED:
        raise NotAllowedError(
            "You missed an attention check: open the study's page, read the note, and go on."
        )
    if state not in WORKING:
        raise NotAllowedError(
            f"“{task.name}” gives out its work through the study's page, s/{task.slug}: start there."
        )
    _check_open(plan, task)


def check_saving(db: Database, person: Person, task: Task) -> None:
    """Refuse a save to a study that is closed, or by somebody who may not work at it.

    Raises:
        NotAllowedError: so it is.
    """
    plan = reservations.get_plan(db, task.id)
    if plan is not None:
        _check_admitted(db, plan, person, task)


def _check_open(plan: Plan, task: Task) -> None:
    if plan.state is StudyState.CLOSED:
        raise NotAllowedError(f"“{task.name}” is closed and takes no more work. What you saved is kept.")


def draw_balanced_arm(db: Database, task: Task, person: Person, instance: int, design: Design) -> Arm | None:
    """The arm that this instance and this person are furthest behind with; None outside a plan.

    After any number of draws no arm is more than about one from its share, for the person and for the
    instance together; ties go by the hash that draws everywhere else, so that nobody can foresee them.
    """
    if reservations.get_plan(db, task.id) is None:
        # an exam asks what becomes of the draft; a check of a plan must look like the work around it
        return Arm.ASSISTED if answer_keys.list_keys_of(db, instance) else None
    if answer_keys.list_keys_of(db, instance):
        # everybody gets checks, few get the same work: balanced over its people, a check would keep to other arms
        return None
    shares = {Arm.BLIND: design.blind_share, Arm.FIRST: design.first_share}
    shares[Arm.ASSISTED] = 1 - design.blind_share - design.first_share
    counts = [
        reservations.count_arms(db, "annotator", person.id, task.id),
        reservations.count_arms(db, "instance", instance, task.id),
    ]
    behind = {arm: sum(_behind(arm, share, one) for one in counts) for arm, share in shares.items() if share}
    most = max(behind.values())
    tied = [arm for arm in shares if arm in behind and behind[arm] > most - 1e-9]
    seed = tasks.get_seed(db, task.id)
    return tied[draw_order(f"{seed}:arm:{instance}", person.id, range(len(tied)))[0]]


def _behind(arm: Arm, share: float, counts: Mapping[Arm, int]) -> float:
    """How many draws an arm is short of its share, once there is one more."""
    return share * (sum(counts.values()) + 1) - counts.get(arm, 0)
