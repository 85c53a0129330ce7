"""Changed pages laid over a whole copy: what they say of the state they lead to, and which copy they fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from coeval.domain import Study, Task
from coeval.settings import Settings
from coeval.store import Store
from coeval.store.queries import tasks
from coeval.store.snapshots.restoration import list_restorations
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.hosting import replication
from coeval.usecases.hosting.replication import Keeper
from coeval.usecases.scrutiny.steps import get_step, submit
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.store.snapshots import test_snapshots
from tests.store.snapshots.test_snapshots import add_task, kill, opened, slugs
from tests.usecases.scrutiny.test_scrutiny import sent

settings, ended = test_snapshots.settings, test_snapshots.ended
"""Fixtures."""


def delete_last(store: Store) -> None:
    """As an import does that is undone: the newest submissions go."""
    with store.write() as db:
        last = "(SELECT max(id) FROM submission)"
        db.conn.execute(f"DELETE FROM submission_row WHERE submission = {last}")
        db.conn.execute(f"DELETE FROM submission WHERE id = {last}")


def ship_while(
    monkeypatch: pytest.MonkeyPatch,
    keeper: Keeper,
    settings: Settings,
    study: Study,
    step: Callable[[], None],
) -> Store:
    """Ship a study, something happening in the middle of a look; what comes back from a wiped disk."""
    context = Context(keeper.store, settings)
    keeper.take()
    import_study(context, OPERATOR, study)
    person = sign_in(context, "Ana")[0]
    submit(context, person, "demo", sent(get_step(context, person, "demo"), "the newest"))
    count = replication.get_newest
    seen: list[int] = []

    def count_and_go_on(db: Any) -> int:
        seen.append(count(db))
        if len(seen) == 1:
            step()
        return seen[-1]

    with monkeypatch.context() as patch:
        patch.setattr(replication, "get_newest", count_and_go_on)
        keeper.take()
    kill(settings, keeper.store)
    return opened(settings)[0]


def test_an_import_undone_in_the_middle_of_a_look_costs_nothing(
    settings: Settings,
    study: Study,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, keeper = opened(settings)
    again = ship_while(monkeypatch, keeper, settings, study, lambda: delete_last(store))
    assert slugs(again) == ["demo"]
    with again.read() as db:
        assert not list_restorations(db)[0].passed_over


def test_a_sound_state_is_taken_also_where_it_holds_less_than_was_said(
    settings: Settings,
    study: Study,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The whole copy under it is older still: to fall back on that would lose more."""
    _, keeper = opened(settings)
    keeper.take()
    import_study(Context(keeper.store, settings), OPERATOR, study)
    monkeypatch.setattr(replication, "get_newest", lambda db: 1_000_000)
    keeper.take()
    kill(settings, keeper.store)
    again = opened(settings)[0]
    assert slugs(again) == ["demo"]
    with again.read() as db:
        assert "(submissions 1 to 1,000,000 are missing)" in list_restorations(db)[0].passed_over


def test_pages_from_before_a_copy_are_not_laid_over_it_alone(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Noted while a copy was being made, they are older than it: they wait for the next look."""
    store, keeper = opened(settings)
    keeper.take()
    (shipper,) = keeper.shippers
    copy = store.backup

    def note_and_copy(target: Path) -> None:
        add_task(store, "noted")
        keeper.read()
        add_task(store, "in-the-copy")
        copy(target)

    with monkeypatch.context() as patch:
        patch.setattr(store, "backup", note_and_copy)
        assert shipper.ship(whole=True)
    assert shipper.ship()  # before anybody has looked again
    kill(settings, store)
    again, keeper = opened(settings)
    assert slugs(again) == ["noted", "in-the-copy"]
    with again.read() as db:
        assert not list_restorations(db)[0].passed_over


def test_what_was_noted_while_a_copy_was_made_is_sent_after_the_next_look(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, keeper = opened(settings)
    keeper.take()
    copy = store.backup

    def copy_and_note(target: Path) -> None:
        copy(target)
        add_task(store, "after-the-copy")
        keeper.read()

    with monkeypatch.context() as patch:
        patch.setattr(store, "backup", copy_and_note)
        keeper.take(whole=True)
    keeper.take()
    kill(settings, store)
    assert slugs(opened(settings)[0]) == ["after-the-copy"]


def test_a_copy_waits_for_a_commit_that_the_log_may_show_already(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pages were noted, and dropped for the copy, in which they would be missing."""
    store, keeper = opened(settings)
    keeper.take()
    began, end, copied = Event(), Event(), Event()
    copy = store.backup

    def commit_slowly() -> None:
        with store.write() as db:
            tasks.add_task(db, Task("under-way", "Under way"))
            began.set()
            assert end.wait(30)

    def note_and_copy(target: Path) -> None:
        copied.set()
        copy(target)

    monkeypatch.setattr(store, "backup", note_and_copy)
    committing = Thread(target=commit_slowly)
    copying = Thread(target=lambda: keeper.shippers[0].ship(whole=True))
    committing.start()
    assert began.wait(30)
    copying.start()
    assert not copied.wait(0.3)
    end.set()
    for thread in (committing, copying):
        thread.join()
    kill(settings, store)
    assert slugs(opened(settings)[0]) == ["under-way"]
