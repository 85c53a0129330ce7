"""Who works at a task: it is hidden from others, and each instance goes to as many people as was said."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from threading import Thread

import pytest

from coeval.domain import Person
from coeval.errors import NotAllowedError
from coeval.store.queries import assignments
from coeval.usecases import tasks
from coeval.usecases.access import Context, require_task
from coeval.usecases.scrutiny.policies import ask_people, get_team, set_team
from coeval.usecases.scrutiny.queue import require_set
from coeval.usecases.scrutiny.steps import Where, get_step, submit
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.usecases.scrutiny.test_scrutiny import sent


@pytest.fixture
def people(context: Context, owner: Person) -> list[Person]:
    import_study(context, owner, make_study(6))
    return [sign_in(context, name)[0] for name in ("Ana", "Ben", "Cia", "Dan")]


def queue_of(context: Context, person: Person) -> list[str]:
    """The instances that a person is given, without opening more of them than the first."""
    first = get_step(context, person, "demo")
    steps = (get_step(context, person, "demo", Where(position=at)) for at in range(1, first.total + 1))
    return [step.instance.external_id for step in steps if step.instance]


def test_who_is_not_chosen_does_not_see_the_task(
    context: Context, owner: Person, people: list[Person]
) -> None:
    ana, ben, *_ = people
    set_team(context, owner, "demo", ["Ana"])
    assert [task.slug for task in tasks.list_tasks(context, ana)] == ["demo"]
    assert tasks.list_tasks(context, ben) == []
    with pytest.raises(NotAllowedError, match="not assigned to “demo”"):
        get_step(context, ben, "demo")
    with pytest.raises(NotAllowedError, match="not assigned to"):
        tasks.get_task(context, ben, "demo")
    assert get_step(context, ana, "demo").total == 12
    assert get_step(context, owner, "demo").total == 12
    set_team(context, owner, "demo", [])
    assert get_step(context, ben, "demo").total == 12


def test_each_instance_goes_to_as_many_people_as_was_said(
    context: Context, owner: Person, people: list[Person]
) -> None:
    names = [person.name for person in people]
    set_team(context, owner, "demo", names, 2)
    team = get_team(context, owner, "demo")
    assert (team.members, team.per_instance, dict(team.given)) == (tuple(names), 2, dict.fromkeys(names, 6))
    queues = {person.name: queue_of(context, person) for person in people}
    counts = Counter(name for queue in queues.values() for name in queue)
    assert set(counts.values()) == {2} and len(counts) == 12
    # the outputs for one input go to the same two people
    pairs = defaultdict(set)
    for name, queue in queues.items():
        for instance in queue:
            pairs[instance[:-1]].add(name)
    assert {len(pair) for pair in pairs.values()} == {2}
    assert get_step(context, owner, "demo").total == 0


@pytest.mark.parametrize("limit", ["a share", "three lines"])
def test_a_thread_adds_nothing_that_an_owner_has_limited(
    context: Context, owner: Person, people: list[Person], monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    threads: list[Thread] = []
    monkeypatch.setattr(assignments, "FIRST_PART", 2)
    monkeypatch.setattr(Thread, "start", lambda thread: threads.append(thread))
    assert get_step(context, people[0], "demo").total == 12 and len(threads) == 1
    if limit == "a share":
        set_team(context, owner, "demo", ["Ana", "Ben"], 1)
    else:
        with context.store.write() as db:
            task = require_task(db, "demo")
            current = require_set(db, task)
            lines = [(instance, current.criteria[0].id) for instance in (10, 11, 12)]
            ask_people(db, task, current, "", lines, "")
    limited = get_step(context, people[0], "demo").total
    assert limited < 8
    threads[0].run()
    assert get_step(context, people[0], "demo").total == limited


def test_what_was_opened_or_saved_counts_and_new_instances_are_shared_out(
    context: Context, owner: Person, people: list[Person]
) -> None:
    ana, ben, *_ = people
    step = get_step(context, ana, "demo")
    submit(context, ana, "demo", sent(step))
    set_team(context, owner, "demo", ["Ben", "Cia"], 1)
    given = dict(get_team(context, owner, "demo").given)
    assert sum(given.values()) == 11 and max(given.values()) - min(given.values()) <= 2
    get_step(context, ben, "demo", Where(position=3))
    set_team(context, owner, "demo", ["Ana", "Ben"], 1)
    assert sum(n for _, n in get_team(context, owner, "demo").given) == 12
    # what Ana saved stays first in her queue, and Ben's places have no gap after the one that he opened
    kept = get_step(context, ana, "demo", Where(position=1)).instance
    assert kept is not None and kept.external_id == step.instance.external_id
    assert len(queue_of(context, ben)) == dict(get_team(context, owner, "demo").given)["Ben"]
    import_study(context, owner, replace(make_study(7), runs=()))
    get_step(context, ana, "demo")
    given = dict(get_team(context, owner, "demo").given)
    assert sum(given.values()) == 14 and abs(given["Ana"] - given["Ben"]) <= 2
