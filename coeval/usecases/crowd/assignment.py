"""Assignment of work in a crowd study: places, batches, quotas, time-outs, and balanced arms.

Each request for work is served in one ``BEGIN IMMEDIATE`` transaction, which takes back timed-out work,
counts the free places, and reserves the person's new ones. Simultaneous requests are therefore served one by
one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from coeval.clock import time_from_now
from coeval.domain import Arm, Person, Plan, Proof, Role, Standing, StudyState, Task
from coeval.errors import ElsewhereError, NotAllowedError
from coeval.extending import find_order
from coeval.language import tr
from coeval.rules.arms import Design, draw_order
from coeval.store import Database
from coeval.store.queries import assignments, enrolments, reservations, tasks
from coeval.store.queries import crowd_studies as stored_plans
from coeval.usecases.access import Context
from coeval.usecases.crowd.exams import begin_try, grade_checks

WORKING = (Standing.ADMITTED, Standing.FINISHED)


def ensure_work(context: Context, person: Person, task: Task) -> bool:
    """Give the person their next batch if a crowd plan assigns the task to them; return whether one does.

    Raises:
        NotAllowedError: the person is not admitted to the study, or the study is closed.
    """
    with context.store.read() as db:
        plan = _get_plan_for(db, person, task)
        study = stored_plans.find_study_of_exam(db, person.id, task.id) if plan is None else None
    if study is not None:
        _ensure_items(context, person, study)
    if plan is None:
        return study is not None
    with context.store.read() as db:
        _check_admitted(db, plan, person, task)
        if reservations.is_holding(db, person.id, task.id):
            return True
    with context.store.write() as db:
        give_work(db, plan, person, task)
    with context.store.read() as db:
        _check_admitted(db, plan, person, task)
    return True


def _get_plan_for(db: Database, person: Person, task: Task) -> Plan | None:
    """Return the plan that assigns a task to a person. Owners can always open their task, as if it had none."""
    plan = stored_plans.get_active_plan(db, task.id)
    is_visitor = person.role is Role.OWNER and enrolments.get_enrolment(db, task.id, person.id) is None
    return None if is_visitor else plan


def _ensure_items(context: Context, person: Person, study: int) -> None:
    """Give a person the items of their exam if they do not have them yet."""
    with context.store.read() as db:
        attempt = stored_plans.count_attempts(db, study, person.id) + 1
        if stored_plans.list_items(db, study, person.id, attempt):
            return
    with context.store.write() as db:
        plan, task = stored_plans.get_plan(db, study), tasks.get_task_by_id(db, study)
        if plan is not None and task is not None and plan.exam is not None:
            begin_try(db, plan, person, task)


def give_work(db: Database, plan: Plan, person: Person, task: Task) -> int:
    """Take back timed-out work, then give the person a batch unless they hold one; return its size."""
    reservations.renew(db, person.id, task.id, _until(plan))
    _take_back_due(db, plan, task)
    if not grade_checks(db, plan, person, task) or reservations.has_open_work(db, person.id, task.id):
        return 0
    standing = enrolments.get_enrolment(db, task.id, person.id)
    if standing is None or standing.state is not Standing.ADMITTED:
        return 0  # people who finished have their code, so later free places belong to others
    seed, runs = tasks.get_seed(db, task.id), plan.state is StudyState.RUNNING
    room = reservations.count_room(db, person.id, task.id, plan.quota)
    # a separate hash for each draw, so that draws are independent
    checks = draw_order(f"{seed}:check", person.id, reservations.list_new_checks(db, person.id, task.id))[:1]
    if _may_be_invented(db, plan, person):
        room, checks = min(room, 1), []
    batch = _pick(db, plan, person, task, room - len(checks)) if runs else []
    # a check in a short batch would be easy to guess, so a batch is at least the quota minus the check
    if checks and runs and len(batch) < max(1, min(plan.batch, plan.quota - 1)):
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


def _may_be_invented(db: Database, plan: Plan, person: Person) -> bool:
    """Return whether a person arrived by an unproved link and has saved nothing. Such a person gets only one
    instance.
    """
    return (
        bool(plan.terms.service)
        and plan.terms.proof != Proof.TOKEN
        and not reservations.has_saved(db, person.id)
    )


def _until(plan: Plan) -> str:
    return time_from_now(timedelta(minutes=plan.reserve_minutes))


def _take_back_due(db: Database, plan: Plan, task: Task) -> None:
    """End abandoned work. People who saved something recently keep theirs."""
    reservations.note_finished(db, task.id)
    reservations.shorten(db, task.id, _until(plan))
    at_work = time_from_now(-timedelta(minutes=plan.reserve_minutes))
    for annotator, last_save in reservations.list_due(db, task.id).items():
        if last_save > at_work:
            reservations.renew(db, annotator, task.id, _until(plan))
        else:
            reservations.take_back(db, annotator, task.id, reservations.TIMED_OUT)


def _pick(db: Database, plan: Plan, person: Person, task: Task, room: int) -> list[int]:
    """Return the ids of the next instances: those with the fewest people first, ties in a personal order.

    An extension may set another order for everybody.
    """
    if room <= 0:
        return []
    free = reservations.list_free(db, person.id, task.id, plan.per_instance)
    drawn = find_order(db, task.id, (instance for _, instance in free))
    if drawn is not None:
        return drawn[: min(plan.batch, room)]
    order = draw_order(tasks.get_seed(db, task.id), person.id, (instance for _, instance in free))
    rank = {instance: n for n, instance in enumerate(order)}
    ranked = sorted(free, key=lambda pair: (pair[0], rank[pair[1]]))
    return [instance for _, instance in ranked[: min(plan.batch, room)]]


def _finish(db: Database, person: Person, task: Task) -> None:
    """Record the end of a person's work, if they have done any: no more can be assigned to them."""
    work = reservations.count_work(db, person.id, task.id)
    done = work.get(reservations.FINISHED, 0)
    if done:
        note, asked = f"{done} instances", sum(work.values())
        enrolments.record_step(db, task.id, person.id, Standing.FINISHED, person.name, note, asked=asked)


def _check_admitted(db: Database, plan: Plan, person: Person, task: Task) -> None:
    _check_open(plan, task)
    standing = enrolments.get_enrolment(db, task.id, person.id)
    state = standing.state if standing else None
    if state is Standing.WARNED:
        raise ElsewhereError(
            tr("You failed an attention check: open the study's page, read the note, and continue."),
            f"s/{task.slug}",
        )
    if state not in WORKING and plan.terms.service and standing is None:
        text = tr(
            "“{name}” now gives its work to people who come by a link, so the team's part is over. Everything you "
            "saved is kept. If you have more to do, ask an owner.",
            name=task.name,
        )
        raise ElsewhereError(text)
    if state not in WORKING:
        text = tr("“{name}” assigns its work on the study's page: join there to go on.", name=task.name)
        raise ElsewhereError(text, f"s/{task.slug}")


def check_saving(db: Database, person: Person, task: Task, instance: int) -> None:
    """Refuse a save to a closed study, by a person without permission, or of work that was reassigned.

    Raises:
        NotAllowedError: one of these applies.
    """
    plan = _get_plan_for(db, person, task)
    if plan is None:
        return
    _check_admitted(db, plan, person, task)
    if reservations.get_outcome(db, person.id, instance) == reservations.TIMED_OUT:
        raise NotAllowedError(
            tr(
                "Your {minutes} minutes for this instance ran out, and it was given to another person. "
                "Everything you confirmed is saved; you can still copy the text on this page. Press "
                "“Continue” for the next instance.",
                minutes=plan.reserve_minutes,
            )
        )


def note_saved(db: Database, person: Person, task: Task) -> None:
    """Record the effect of a save. A study with enough work then pauses automatically."""
    plan = stored_plans.get_active_plan(db, task.id)
    if plan is None or not reservations.note_finished(db, task.id, annotator=person.id):
        return
    if plan.state is StudyState.RUNNING and reservations.is_full(db, task.id, plan.per_instance):
        stored_plans.set_plan(db, task.id, replace(plan, state=StudyState.PAUSED, reason="full"))


def _check_open(plan: Plan, task: Task) -> None:
    if plan.state is StudyState.CLOSED:
        raise NotAllowedError(
            tr("“{name}” is closed and accepts no more work. Your saved work is kept.", name=task.name)
        )


def draw_balanced_arm(db: Database, task: Task, person: Person, instance: int, design: Design) -> Arm | None:
    """Return the arm that is furthest behind its share for the study and this person; None without a plan.

    Balancing by person and study keeps every arm within about one draw of its share; by person alone,
    rounding errors would add up over the study. A second person is likely to get the same arm as a first
    without a draft, because agreement needs two people. Ties are broken by the usual hash, so nobody can
    foresee them. Attention checks are balanced together with the work, or their arms would reveal them.
    Work and checks also have a weak balance of their own, so that neither pushes the other off its shares.
    """
    keys = stored_plans.list_keys_of(db, instance)
    plan = _get_plan_for(db, person, task)
    if plan is None:
        # an exam needs the actions on the draft
        return Arm.ASSISTED if keys else None
    shares = design.arm_shares
    mine = reservations.count_arms(db, person.id, task.id)
    work, checks = reservations.count_all_arms(db, task.id)
    everything, own_kind = work + checks, checks if keys else work
    here = reservations.list_arms(db, instance, task.id)
    if keys:
        # everybody gets the checks, few get the same work: count a check as a new instance after each full
        # set of people
        here = here[len(here) - len(here) % plan.per_instance :]
    behind = {
        arm: _behind(arm, share, mine)
        + _behind(arm, share, everything)
        + OWN_KIND * _behind(arm, share, own_kind)
        + _weigh_partner(arm, share, Counter(here))
        for arm, share in shares.items()
        if share > 1e-9
    }
    most = max(behind.values())
    tied = [arm for arm in shares if arm in behind and behind[arm] > most - 1e-9]
    return tied[draw_order(f"{tasks.get_seed(db, task.id)}:arm:{instance}", person.id, range(len(tied)))[0]]


def _behind(arm: Arm, share: float, counts: Mapping[Arm, int]) -> float:
    """Return the number of draws by which an arm would be behind its share after one more draw."""
    return share * (sum(counts.values()) + 1) - counts.get(arm, 0)


OWN_KIND = 0.1
"""The weight of the balance of work alone, or of checks alone.

It is low, because checks that are balanced by themselves can be told from work by their arms.
"""

PARTNER = 2.0
"""The weight of an instance's own arms, relative to those of the person and the study."""


def _weigh_partner(arm: Arm, share: float, here: Mapping[Arm, int]) -> float:
    """Return the weight of an arm for an instance.

    It favours an arm without a draft in which a person is alone, and corrects an arm that is too frequent.
    """
    if arm is not Arm.ASSISTED and here.get(arm, 0) % 2:
        return PARTNER
    return PARTNER * min(0.0, _behind(arm, share, here))


def get_guidelines(db: Database, person: Person, task: Task) -> str:
    """Return the guidelines of the study or exam that a person works on, or else the task's own."""
    plan = _get_plan_for(db, person, task)
    if plan is None:
        study = stored_plans.find_study_of_exam(db, person.id, task.id)
        plan = stored_plans.get_plan(db, study) if study is not None else None
    pages = plan.terms.guidelines.split("\n---\n") if plan else []
    return "\n\n".join(page.strip() for page in pages if page.strip()) or task.guidelines
