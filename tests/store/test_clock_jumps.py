"""The clock of the machine is set ahead or back while people work: nothing is lost, mixed up or kept waiting.

``jump`` moves the one clock of CoEval (``coeval/clock.py``); what measures a span of time reads another clock, which
nobody can set.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coeval import clock
from coeval.domain import Person, Plan, Study
from coeval.errors import CoevalError, NotAllowedError
from coeval.settings import Snapshots
from coeval.store import open_store
from coeval.store.queries import people, tasks
from coeval.store.soundness import examine_file
from coeval.usecases import leases
from coeval.usecases.access import Context
from coeval.usecases.hosting.startup import open_kept
from coeval.usecases.import_staging import remove_unfinished
from coeval.usecases.scrutiny.steps import get_step, submit
from coeval.usecases.study_import import import_study
from tests.conftest import make_place
from tests.store.test_import_in_parts import WHOLE, bring_in, count_everything, look, make_source
from tests.support.studies.scrutiny_steps import here, sent_of
from tests.usecases.crowd.test_assignment import join, open_study, places, work

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
Jump = Callable[[timedelta], None]


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> Jump:
    """Set the clock ahead, or back by a negative span, from where it is."""
    shift = timedelta()

    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = UTC) -> datetime:  # type: ignore[override]
            return datetime.now(UTC) + shift

    def move(by: timedelta) -> None:
        nonlocal shift
        shift += by

    monkeypatch.setattr(clock, "datetime", Clock)
    return move


@pytest.mark.parametrize("by", [DAY, -DAY, -400 * DAY])
def test_a_save_after_a_jump_is_the_newest_and_takes_the_time_that_it_took(
    context: Context, owner: Person, study: Study, jump: Jump, by: timedelta
) -> None:
    import_study(context, owner, study)
    step = get_step(context, owner, "demo")
    first = submit(context, owner, "demo", sent_of(step, 4))
    again = get_step(context, owner, "demo", here(step))
    jump(by)
    sent = replace(sent_of(again, 2), opened_at=clock.now(), active_ms=4000)
    second = submit(context, owner, "demo", sent)
    assert (second.submitted_at > first.submitted_at) == (by > timedelta())
    assert (first.revision, second.revision) == (1, 2)
    shown = get_step(context, owner, "demo", here(step)).saved
    assert shown and (shown.revision, shown.score) == (2, 2)
    assert shown.active_ms is not None and 0 <= shown.active_ms <= 4000
    with context.store.read() as db:
        assert examine_file(db).faults == ()


@pytest.mark.parametrize("by", [HOUR, -HOUR])
def test_an_import_is_whole_or_gone_where_the_clock_jumps_beside_a_clean_up(
    context: Context, owner: Person, jump: Jump, by: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease looks as if nobody renewed it, so another process takes the import for one that was killed."""
    monkeypatch.setattr(leases, "RENEW_SECONDS", 3600.0)  # the clean-up comes before the next renewal
    before, cleaned = count_everything(context), 0
    other = replace(context, store=open_store(context.store.address))

    def clean_up() -> None:
        nonlocal cleaned
        cleaned += 1
        if cleaned == 3:
            jump(by)
            thread = threading.Thread(target=remove_unfinished, args=(other,))
            thread.start()
            thread.join(60)
            assert not thread.is_alive()

    with pytest.raises(CoevalError, match="Another worker has taken over"):
        bring_in(context, owner, make_source(clean_up))
    assert count_everything(context) == before
    bring_in(context, owner, make_source())
    assert look(context)["scores"] == WHOLE["scores"]


def test_a_place_is_given_once_and_not_held_until_the_clock_catches_up(
    context: Context, owner: Person, jump: Jump
) -> None:
    plan = Plan(per_instance=1, batch=1, quota=2, reserve_minutes=30)
    open_study(context, owner, plan, n_documents=1)
    jump(DAY)
    ana = join(context, 1)
    step = get_step(context, ana, "demo")
    jump(-DAY)
    bo = join(context, 2)
    get_step(context, bo, "demo")
    jump(HOUR)
    assert len(work(context, bo)) == 2 and set(places(context).values()) == {1}
    with pytest.raises(NotAllowedError, match="ran out"):
        submit(context, ana, "demo", sent_of(step, 4))


@pytest.mark.sqlite
@pytest.mark.parametrize("by", [400 * DAY, -400 * DAY])
def test_the_newest_snapshot_is_the_last_one_taken(
    context: Context, tmp_path: Path, jump: Jump, by: timedelta
) -> None:
    settings = replace(
        context.settings,
        db=tmp_path / "live" / "c.db",
        snapshots=Snapshots(folder=make_place(tmp_path / "place")),
    )
    store, keeper = open_kept(settings)
    for name in ("before", "after"):
        with store.write() as db:
            people.ensure_person(db, name)
        keeper.take()
        jump(by)
    keeper.stop()
    store.close()
    for one in settings.db.parent.iterdir():
        one.unlink()
    again, _ = open_kept(settings)
    with again.read() as db:
        assert {"before", "after"} <= {one.name for one in people.list_people(db)}
        assert tasks.list_tasks(db) == []
    again.close()
