"""Skipping, reopened criteria, and times that cannot be true."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from coeval.domain import Action, CriteriaSet, Person, Study, Vote
from coeval.errors import NotFoundError
from coeval.usecases.access import Context
from coeval.usecases.criteria_rounds import (
    cast_ballot,
    establish,
)
from coeval.usecases.criteria_sets import reopen_criteria
from coeval.usecases.scrutiny.steps import (
    Move,
    Step,
    Where,
    get_step,
    list_history,
    mark_instance,
    submit,
)
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import get_task_state
from tests.support.studies.scrutiny_steps import go_on, here, save, sent_of, walk


@pytest.fixture
def ana(context: Context, owner: Person, study: Study) -> Person:
    import_study(context, owner, study)
    return sign_in(context, "Ana")[0]


def place(step: Step) -> int | None:
    return step.assignment.position if step.assignment else None


def skip(context: Context, person: Person, step: Step, *, on: bool = True) -> Step:
    mark_instance(context, person, "demo", step.instance.id, skipped=on)
    return go_on(context, person, step, Move.NEXT_INSTANCE)


def finish(context: Context, person: Person, step: Step) -> Step:
    for _ in step.criteria:
        save(context, person, step, 4)
        step = go_on(context, person, step)
    return step


def test_a_task_is_in_progress_until_everybody_who_has_begun_has_finished(
    context: Context, owner: Person, ana: Person
) -> None:
    get_step(context, owner, "demo")  # the owner looks, and judges nothing
    step, known = get_step(context, ana, "demo"), []
    for _ in range(step.total):
        step = finish(context, ana, step)
        stands = get_task_state(context, owner, "demo")
        known.append((stands.has_scores, stands.in_progress))
    assert known == [(True, True)] * (step.total - 1) + [(True, False)]


def test_what_is_skipped_comes_again_at_the_end_and_only_once(context: Context, ana: Person) -> None:
    step = skip(context, ana, get_step(context, ana, "demo"))
    assert place(step) == 2
    step = skip(context, ana, finish(context, ana, step))  # 2 is finished, 3 is skipped
    assert place(step) == 4
    assert place(get_step(context, ana, "demo")) == 4  # resuming goes past what is skipped
    step = finish(context, ana, step)
    assert place(step) == 1  # nothing else is left: the skipped ones come round
    step = skip(context, ana, step)
    assert place(step) == 3
    assert place(skip(context, ana, step)) is None  # skipped again, to the end
    assert place(get_step(context, ana, "demo")) == 1  # and still there for another day


def test_moving_on_goes_round_and_stays_where_there_is_nothing_else(context: Context, ana: Person) -> None:
    last = get_step(context, ana, "demo", Where(position=4))
    assert place(go_on(context, ana, last, Move.NEXT_INSTANCE)) == 1
    for position in (1, 2, 3):
        finish(context, ana, get_step(context, ana, "demo", Where(position=position)))
    assert place(go_on(context, ana, last, Move.NEXT_INSTANCE)) == 4
    assert place(go_on(context, ana, last)) == 4


def next_version(context: Context, owner: Person, *texts: str) -> CriteriaSet:
    """Keep the first criterion, drop the second, add these."""
    round_ = reopen_criteria(context, owner, "demo")
    kept, dropped = round_.proposals
    votes = [Vote(Action.APPROVE, kept.id), Vote(Action.DELETE, dropped.id, "too vague")]
    added = [Vote(Action.ADD, new_text=text) for text in texts]
    cast_ballot(context, owner, "demo", 0, [*votes, *added])
    return establish(context, owner, "demo", added=texts)


def test_a_new_version_reopens_what_changed_where_it_was_finished(
    context: Context, owner: Person, ana: Person
) -> None:
    step = finish(context, ana, get_step(context, ana, "demo"))
    save(context, ana, step, 4)  # the second instance is half done
    new = next_version(context, owner, "Be brief.").criteria[1]
    first = get_step(context, ana, "demo", Where(position=1))
    assert (first.finished, first.reopened, first.criterion) == (0, {new.id}, new)
    assert get_step(context, ana, "demo", Where(position=2)).reopened == frozenset()
    save(context, ana, first, 4)
    again = get_step(context, ana, "demo", Where(position=1))
    assert (again.finished, again.reopened) == (1, frozenset())


def ago(**span: float) -> str:
    return (datetime.now(UTC) - timedelta(**span)).isoformat()


def test_times_that_cannot_be_true(context: Context, ana: Person) -> None:
    """No opening before the instance's own or in the future, and no more activity than time."""
    steps = iter(walk(context, ana))

    def kept(opened_at: str, active_ms: int | None) -> tuple[str, int | None]:
        sent = replace(sent_of(next(steps), 4), opened_at=opened_at, active_ms=active_ms)
        saved = submit(context, ana, "demo", sent)
        return saved.opened_at, saved.active_ms

    assert kept("", 500) == ("", None)
    assert kept("yesterday", 500) == ("", None)
    assert kept(ago(minutes=-10), 500) == ("", None)
    opened, active = kept(ago(days=300), 10**15)
    # the queue was opened moments ago; five seconds are left for clocks that differ
    assert opened > ago(seconds=20) and active is not None and active < 20_000
    time.sleep(0.3)
    opened, active = kept(ago(seconds=2), 200)
    # it was opened while the one before was worked at: it counts from the end of that
    assert active == 200 and opened > ago(seconds=20)
    # nobody is active for longer than went by since their last save, however long it was open
    assert kept(ago(seconds=100), 60_000)[1] in range(0, 20_000)
    assert kept(ago(seconds=-2), 700) != ("", None)  # a browser's clock that is a little ahead
    assert kept(ago(seconds=1), -5)[1] is None


def test_history_is_ones_own(context: Context, owner: Person, ana: Person) -> None:
    step = get_step(context, ana, "demo")
    save(context, ana, step, 2)
    save(context, ana, get_step(context, ana, "demo", here(step)), 3)
    key = ("demo", step.instance.id, step.criterion.id)
    assert [one.score for one in list_history(context, ana, *key)] == [2, 3]
    get_step(context, owner, "demo")
    assert list_history(context, owner, *key) == []
    with pytest.raises(NotFoundError):
        list_history(context, ana, "demo", 10_000, step.criterion.id)
