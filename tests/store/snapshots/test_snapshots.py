"""A file that comes back: changes shipped to a folder and to a stand-in of the Hub, lineages, leases, and faults."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coeval.clock import utc_now
from coeval.domain import Task
from coeval.errors import InputError, StorageError
from coeval.settings import Settings, SignIn, Snapshots, load_settings
from coeval.store import Store
from coeval.store.queries import people, tasks
from coeval.store.snapshots import hub_place, places
from coeval.store.snapshots.places import choose_drops, parse_name, parse_names
from coeval.store.snapshots.restoration import list_restorations, set_term
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd.plans import remove_person
from coeval.usecases.hosting import startup
from coeval.usecases.hosting.maintenance import check_pages
from coeval.usecases.hosting.replication import Keeper, get_alert
from coeval.usecases.sessions import get_signed_in, sign_in
from tests.conftest import make_place
from tests.support.hosting.hub_stub import TROUBLES, HubStub

SEQUENCES = int(os.environ.get("COEVAL_FAULT_SEQUENCES", "3"))
"""`COEVAL_FAULT_SEQUENCES=200 pytest tests/store/snapshots/test_snapshots.py` is the whole trial."""


@pytest.fixture
def hub() -> Iterator[HubStub]:
    stub = HubStub()
    stub.exists = True
    stub.start()
    yield stub
    stub.stop()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    base = load_settings({}, db=tmp_path / "live" / "coeval.db")
    return replace(base, snapshots=Snapshots(folder=make_place(tmp_path / "place")))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub's own client waits between its tries; what is tested here is what follows when it gives up."""
    from huggingface_hub.utils import _http

    monkeypatch.setattr(_http, "time", SimpleNamespace(sleep=lambda seconds: None, time=time.time))
    monkeypatch.setattr(hub_place, "AGAIN_SECONDS", (0.0, 0.0))


def add_task(store: Store, slug: str) -> None:
    with store.write() as db:
        tasks.add_task(db, Task(slug, slug))


def slugs(store: Store) -> list[str]:
    with store.read() as db:
        return [task.slug for task in tasks.list_tasks(db)]


def files(settings: Settings) -> list[Path]:
    """The snapshots in the folder, oldest first."""
    known = {one.name for one in parse_names(os.listdir(settings.snapshots.folder))}
    return [settings.snapshots.folder / name for name in sorted(known, key=lambda name: parse_name(name))]  # type: ignore[arg-type,return-value]


def opened(settings: Settings, **how: Any) -> tuple[Store, Keeper]:
    store, keeper = startup.open_kept(settings, **{"patience": 0.0, **how})
    return store, keeper


def kill(settings: Settings, store: Store, *, wipe: bool = True) -> None:
    """The server ends without a word; its disk is wiped, as at a Space's restart."""
    store.close()
    for name in ("coeval.db", "coeval.db-wal", "coeval.db-shm") if wipe else ():
        settings.db.with_name(name).unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of a test run in one process: whoever comes next takes it that the one before has ended."""
    monkeypatch.setattr("coeval.store.snapshots.places.is_gone", lambda holder: True)


def hub_settings(settings: Settings, hub: HubStub) -> Settings:
    return replace(settings, snapshots=Snapshots(repo="team/study", token=hub.token, endpoint=hub.url))


# ---- every change is there ------------------------------------------------------------------------------------------


def test_a_wiped_disk_comes_back_with_every_change_that_was_shipped(settings: Settings) -> None:
    store, keeper = opened(settings)
    for n in range(5):
        add_task(store, f"t{n}")
        keeper.take()
    add_task(store, "not shipped")
    assert [path.suffix for path in files(settings)] == [".db"] + [".pages"] * 4
    kill(settings, store)
    again, _ = opened(settings)
    assert slugs(again) == [f"t{n}" for n in range(5)]
    with again.read() as db:
        (restored,) = list_restorations(db)
        assert db.conn.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert restored.name == files(settings)[-1].name and not restored.passed_over


def test_a_place_says_before_which_moment_all_is_there(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, keeper = opened(settings)

    def is_shipped(moment: float) -> bool:
        shipped = keeper.get_shipped_until()
        return shipped is not None and shipped > moment

    keeper.take()
    add_task(store, "new")
    moment = time.monotonic()
    assert not is_shipped(moment)  # nobody looked yet
    keeper.read()
    assert not is_shipped(moment)  # it is noted, and not sent
    place = keeper.shippers[0].place
    monkeypatch.setattr(place, "put", lambda *_: (_ for _ in ()).throw(StorageError("no room there")))
    keeper.take()
    assert keeper.get_shipped_until() is None  # no place takes anything
    monkeypatch.undo()
    keeper.take()
    assert is_shipped(moment)
    add_task(store, "later")
    monkeypatch.setattr(keeper, "_read", lambda _: (_ for _ in ()).throw(StorageError("locked")))
    late = time.monotonic()
    keeper.read()  # a look that fails makes nothing safe, nor does the next that succeeds, by itself
    monkeypatch.undo()
    keeper.read()
    assert not is_shipped(late)
    keeper.take()
    assert is_shipped(late)


def test_what_another_process_writes_and_a_long_log_are_shipped_too(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coeval.store.snapshots.changed_pages.FOLD_FRAMES", 40)
    store, keeper = opened(settings)
    keeper.take()
    other, moment = sqlite3.connect(settings.db, timeout=30), random.Random(3)
    other.execute("CREATE TABLE extra (id INTEGER PRIMARY KEY, text TEXT)")
    for n in range(60):
        other.execute("INSERT INTO extra (text) VALUES (?)", ["x" * moment.randrange(9000)])
        other.execute("DELETE FROM extra WHERE id % 7 = ?", [moment.randrange(7)])
        other.commit()
        if n % 3 == 0:
            add_task(store, f"t{n}")
        if moment.random() < 0.4:
            keeper.take()
    keeper.take()
    log = settings.db.with_name("coeval.db-wal").stat().st_size
    before = other.execute("SELECT count(*), sum(length(text)) FROM extra").fetchone()
    other.close()
    kill(settings, store)
    again, _ = opened(settings)
    assert log < 3_000_000, "the log was never begun anew"
    with again.read() as db:
        assert db.conn.execute("SELECT count(*), sum(length(text)) FROM extra").fetchone() == before
    assert len(slugs(again)) == 20


def test_a_place_that_fails_is_shown_and_made_up_for(settings: Settings) -> None:
    store, keeper = opened(settings)
    context = Context(store, settings)
    owner = sign_in(context, "Olu")[0]
    keeper.take()
    assert get_alert(context, owner) == ""
    folder = settings.snapshots.folder
    folder.rename(folder.with_name("away"))
    keeper.shippers[0].look()
    keeper.take()  # there is nothing to send, which is no sign that the place is well
    assert "on this machine alone" in get_alert(context, owner)
    add_task(store, "one")
    keeper.take()
    assert "on this machine alone" in get_alert(context, owner)
    add_task(store, "two")  # annotation goes on
    folder.with_name("away").rename(folder)
    keeper.take()
    keeper.shippers[0].look()
    assert get_alert(context, owner) == ""
    kill(settings, store)
    assert slugs(opened(settings)[0]) == ["one", "two"]


def test_a_change_counts_as_shipped_once_it_was_read_back(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mounted bucket may accept a file and lose the end of it, or show it later."""
    store, keeper = opened(settings)
    keeper.take()
    copy = shutil.copyfileobj

    def copy_half(source: Any, target: Any) -> None:
        copy(source, target)
        target.truncate(target.tell() // 2)

    monkeypatch.setattr("coeval.store.snapshots.folder_place.shutil.copyfileobj", copy_half)
    add_task(store, "one")
    moment = time.monotonic()
    keeper.take()
    assert keeper.get_shipped_until() is None and "is not yet in the" in keeper.list_states()[0].error
    monkeypatch.undo()
    keeper.take()
    assert (keeper.get_shipped_until() or 0) > moment and not keeper.list_states()[0].error
    monkeypatch.setattr("coeval.store.snapshots.places.is_gone", lambda holder: True)
    kill(settings, store)
    assert slugs(opened(settings)[0]) == ["one"]


# ---- what is never followed, and never replaced ---------------------------------------------------------------------


def test_a_snapshot_never_replaces_a_live_file_of_its_own_time(settings: Settings) -> None:
    store, keeper = opened(settings)
    keeper.take()
    add_task(store, "after the snapshot")
    kill(settings, store, wipe=False)
    again, _ = opened(settings)
    assert slugs(again) == ["after the snapshot"]
    with again.read() as db:
        assert list_restorations(db) == []


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\x00" + b"\xff" * 5000], ids=["empty", "damaged"])
def test_an_empty_or_damaged_live_file_gives_way_and_is_kept(settings: Settings, content: bytes) -> None:
    store, keeper = opened(settings)
    add_task(store, "one")
    keeper.take()
    kill(settings, store)
    settings.db.write_bytes(content)
    again, _ = opened(settings)
    assert slugs(again) == ["one"]
    (aside,) = settings.db.parent.glob("*.aside-*")
    assert aside.read_bytes() == content


def test_a_damaged_file_without_snapshots_is_no_reason_for_an_empty_one(settings: Settings) -> None:
    settings.db.parent.mkdir()
    settings.db.write_bytes(b"no database" * 1000)
    with pytest.raises(StorageError, match="--start-empty"):
        opened(settings)
    store, _ = opened(settings, start_empty=True)
    assert slugs(store) == [] and list(settings.db.parent.glob("*.aside-*"))


def test_a_place_that_cannot_be_read_stops_the_start(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "below", tmp_path / "not mounted" / "place"):
        broken = replace(settings, snapshots=Snapshots(folder=folder))
        with pytest.raises(StorageError, match="does not start while it cannot read"):
            opened(broken)
        assert not settings.db.exists() and not folder.exists()
    store, keeper = startup.open_kept(broken, start_empty=True, patience=0.0)
    assert keeper is None and slugs(store) == []


def test_an_empty_folder_without_its_marker_is_a_disk_that_is_not_mounted(settings: Settings) -> None:
    """The mount point stays when the disk is gone. Starting there would acknowledge answers into nothing."""
    folder = settings.snapshots.folder
    store, keeper = opened(settings)
    add_task(store, "one")
    keeper.take()
    kill(settings, store)
    disk = folder.rename(folder.with_name("disk"))
    for is_there in (False, True):
        if is_there:
            folder.mkdir()
            (folder / "lost+found").mkdir()
        with pytest.raises(StorageError, match=f"{folder}.*not mounted.*--start-empty.*“coeval-place”"):
            opened(settings)
        assert not settings.db.exists() and os.listdir(folder.parent) != []
    shutil.rmtree(folder)
    disk.rename(folder)
    assert slugs(opened(settings)[0]) == ["one"]


def test_a_study_that_is_there_does_not_go_on_into_an_unmounted_folder(settings: Settings) -> None:
    folder = settings.snapshots.folder
    store, keeper = opened(settings)
    add_task(store, "one")
    keeper.take()
    kill(settings, store, wipe=False)
    folder.rename(folder.with_name("disk"))
    folder.mkdir()
    with pytest.raises(StorageError, match="not mounted"):
        opened(settings)
    (folder / "coeval-place").touch()  # the owner's own act: this folder is new
    assert slugs(opened(settings)[0]) == ["one"]


def test_a_disk_that_is_unmounted_while_people_work_gets_the_changes_once_it_is_back(
    settings: Settings,
) -> None:
    store, keeper = opened(settings)
    folder = settings.snapshots.folder
    keeper.take()
    disk = folder.rename(folder.with_name("disk"))
    folder.mkdir()
    add_task(store, "one")
    moment = time.monotonic()
    keeper.shippers[0].look()
    keeper.take()
    assert keeper.get_shipped_until() is None and not os.listdir(folder)
    assert "no longer mounted" in keeper.list_states()[0].error
    folder.rmdir()
    disk.rename(folder)
    keeper.shippers[0].look()
    keeper.take()
    assert (keeper.get_shipped_until() or 0) > moment and not keeper.list_states()[0].error


def test_the_first_start_creates_a_place_when_it_is_told_to(settings: Settings, tmp_path: Path) -> None:
    new = replace(settings, snapshots=Snapshots(folder=tmp_path / "new"))
    store, keeper = opened(new, start_empty=True)
    add_task(store, "one")
    keeper.take()
    kill(new, store)
    assert slugs(opened(new)[0]) == ["one"]


def test_a_data_set_that_is_not_there_is_created_by_order_only(settings: Settings, hub: HubStub) -> None:
    hub.exists = False
    with pytest.raises(StorageError, match="data set team/study cannot be found.*--start-empty"):
        opened(hub_settings(settings, hub))
    assert not hub.exists and not settings.db.exists()
    opened(hub_settings(settings, hub), start_empty=True)
    assert hub.exists and hub.private


def test_an_empty_data_set_of_the_owners_needs_no_order(settings: Settings, hub: HubStub) -> None:
    """A Space has no command line: its first start fills the empty data set that its owner named."""
    hub.exists = True
    store, keeper = opened(hub_settings(settings, hub))
    add_task(store, "one")
    keeper.take()
    kill(hub_settings(settings, hub), store)
    assert slugs(opened(hub_settings(settings, hub))[0]) == ["one"]


def test_starting_empty_leaves_what_is_there_and_the_next_start_asks(settings: Settings) -> None:
    store, keeper = opened(settings)
    add_task(store, "one")
    keeper.take()
    with pytest.raises(InputError, match="holds a study"):
        opened(settings, start_empty=True)
    kill(settings, store)
    empty, keeper = opened(settings, start_empty=True)
    keeper.take()
    other = keeper.list_states()[0].lineages
    assert slugs(empty) == [] and len(other) == 1
    kill(settings, empty)
    with pytest.raises(StorageError, match="hold 2 studies.*--restore"):
        opened(settings)
    with pytest.raises(StorageError, match="holds the lineage 0123: correct --restore"):
        opened(settings, lineage="0123")
    assert slugs(opened(settings, lineage=other[0])[0]) == ["one"]


def test_old_snapshots_go_by_age_and_the_newest_with_its_changes_stays() -> None:
    """An idle study kept the copies of thirty days that had one, for ever, with the data of removed people."""
    mine, idle = "a" * 16, "b" * 16

    def name(lineage: str, n: int, month: int, kind: str = "db") -> str:
        return f"coeval-{lineage}-000001-{n:010}-2026{month:02}01T000000000Z-{'0' * 16}.{kind}"

    names = [name(lineage, 2 * n, n) for lineage in (mine, idle) for n in range(1, 4)]
    names += [name(lineage, 2 * n + 1, n, "pages") for lineage in (mine, idle) for n in range(1, 4)]
    names += [name(mine, 30, 6), name(mine, 31, 6, "pages")]
    kept = {*names} - {*choose_drops(names, datetime(2026, 6, 20, tzinfo=UTC))}
    assert kept == {
        name(mine, 30, 6),
        name(mine, 31, 6, "pages"),
        name(idle, 6, 3),
        name(idle, 7, 3, "pages"),
    }
    assert kept == {*names} - {*choose_drops(names, datetime(2030, 1, 1, tzinfo=UTC))}


def test_a_removal_writes_a_new_copy_and_the_timer_deletes_the_older_ones_by_age(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, keeper = opened(settings)
    context = Context(store, settings)
    owner, _ = sign_in(context, "Olu")
    sign_in(context, "Ana Removed")
    keeper.take()
    (before,) = [path for path in files(settings) if path.suffix == ".db"]
    assert b"Ana Removed" in before.read_bytes()
    remove_person(context, owner, "Ana Removed")
    assert keeper.shippers[0]._has_work(), "nothing has to happen before it is sent"
    keeper.take()
    *_, after = [path for path in files(settings) if path.suffix == ".db"]
    assert after != before and b"Ana Removed" not in after.read_bytes()
    monkeypatch.setattr(places, "utc_now", lambda: utc_now() + timedelta(days=31))
    keeper.shippers[0].prune()
    left = files(settings)
    assert after in left and not any(b"Ana Removed" in path.read_bytes() for path in left)
    kill(settings, store)
    assert [person.name for person in list_everybody(opened(settings)[0])] == ["Olu", "removed-2"]


def list_everybody(store: Store) -> list[Any]:
    with store.read() as db:
        return people.list_people(db)


def test_a_damaged_file_keeps_its_old_snapshots_and_owners_are_told(settings: Settings) -> None:
    store, keeper = opened(settings)
    context = Context(store, settings)
    for n in range(300):
        add_task(store, f"t{n}")
    keeper.take(whole=True)
    check_pages(context)
    assert get_alert(context, OPERATOR) == ""
    keeper.stop()
    store.close()
    pages = bytearray(settings.db.read_bytes())
    pages[3 * 4096 : 3 * 4096 + 64] = b"\xff" * 64
    settings.db.write_bytes(pages)
    check_pages(context)
    assert "is damaged" in keeper.damage
    before = files(settings)
    keeper.shippers[0].place.prune = lambda choose: pytest.fail("deleted")  # type: ignore[method-assign]
    keeper.shippers[0].prune()
    assert files(settings) == before


def test_a_term_of_seven_digits_is_a_term(settings: Settings) -> None:
    """The millionth term was no term: the server began it again and again, without a word."""
    store, keeper = opened(settings)
    add_task(store, "one")
    with store.write() as db:
        set_term(db, 999_998)
    keeper.term = 999_999
    keeper.take(whole=True)
    kill(settings, store)
    again, later = opened(settings)
    assert later.term == 1_000_000 and slugs(again) == ["one"]
    later.take()
    kill(settings, again)
    last, keeper = opened(settings)
    assert keeper.term == 1_000_001 and slugs(last) == ["one"]


def test_snapshots_of_another_lineage_are_never_pruned() -> None:
    mine, other = "a" * 16, "b" * 16

    def name(lineage: str, n: int, kind: str = "db") -> str:
        day, hour = divmod(n, 24)
        return f"coeval-{lineage}-000001-{n:010}-202601{day + 1:02}T{hour:02}0000000Z-{'0' * 16}.{kind}"

    names = [name(other, 0), name(other, 1, "pages"), *(name(mine, n) for n in range(1, 200))]
    names += [name(mine, n, "pages") for n in range(1, 205)]
    moment = datetime(2026, 1, 9, 9, tzinfo=UTC)
    drops = set(choose_drops([*names, "notes.txt"], moment))
    kept = [one for one in parse_names(names) if one.name not in drops]
    assert not any(other in one for one in drops) and "notes.txt" not in drops
    whole = [one for one in kept if one.whole and one.lineage == mine]
    assert len(whole) == 12 + 7  # the newest twelve are of the last two days; one of each of the seven before
    # the pages since the third whole copy from the end
    assert [one.number for one in kept if not one.whole and one.lineage == mine] == list(range(204, 197, -1))


# ---- one server at a time -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_second_server_waits_and_goes_on_from_the_last_state(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    store, keeper = opened(settings)
    add_task(store, "one")
    told: list[str] = []

    def stop_first(why: str) -> None:
        told.append(why)
        if len(told) == 2:
            add_task(store, "two")
            keeper.stop()

    second = replace(settings, db=tmp_path / "second" / "coeval.db")
    store2, keeper2 = opened(second, on_wait=stop_first)
    assert slugs(store2) == ["one", "two"] and "waits until it stops" in told[0]
    assert keeper2.term == keeper.term + 1


def test_who_was_silent_for_long_is_replaced_takes_no_more_saves_and_ranks_below(
    settings: Settings, tmp_path: Path
) -> None:
    store, keeper = opened(settings)
    add_task(store, "one")
    keeper.start()
    keeper.take()
    second = replace(settings, db=tmp_path / "second" / "coeval.db")
    store2, keeper2 = opened(second)  # is_gone says so of everybody here
    add_task(store2, "of the second")
    keeper2.take()
    keeper.shippers[0].look()
    with pytest.raises(StorageError, match="Another server has taken over this study"):
        add_task(store, "of the first")
    assert get_alert(Context(store, settings), OPERATOR).startswith("Another server")
    kill(second, store2)
    keeper.stop()
    store3, keeper3 = opened(second)
    assert slugs(store3) == ["one", "of the second"]
    # the first server's own file is older than what is in the place, and gives way at its next start
    kill(settings, store, wipe=False)
    keeper3.stop()
    again, _ = opened(settings)
    assert slugs(again) == ["one", "of the second"] and list(settings.db.parent.glob("*.aside-*"))


def test_a_server_that_stood_still_looks_before_it_takes_a_save(settings: Settings) -> None:
    store, keeper = opened(settings)
    keeper.start()
    keeper.shippers[0].looked -= 3600
    with pytest.raises(StorageError, match="try again in a moment"):
        add_task(store, "one")
    keeper.shippers[0].look()
    add_task(store, "one")
    keeper.stop()


def test_sessions_end_with_a_restoration_and_with_another_kind_of_sign_in(settings: Settings) -> None:
    store, keeper = opened(settings)
    token = sign_in(Context(store, settings), "Olu")[1]
    keeper.take()
    assert get_signed_in(Context(store, settings), token)
    kill(settings, store)
    store, keeper = opened(settings)
    assert get_signed_in(Context(store, settings), token) is None
    token = sign_in(Context(store, settings), "Olu")[1]
    kill(settings, store, wipe=False)
    store, keeper = opened(settings)
    assert get_signed_in(Context(store, settings), token)
    kill(settings, store, wipe=False)
    store, keeper = opened(replace(settings, sign_in=SignIn.ACCOUNTS))
    assert get_signed_in(Context(store, settings), token) is None


# ---- damage ---------------------------------------------------------------------------------------------------------


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def test_damaged_pages_cost_what_came_after_them_and_it_is_said(settings: Settings) -> None:
    store, keeper = opened(settings)
    for n in range(4):
        add_task(store, f"t{n}")
        keeper.take()
    damage(files(settings)[2])
    newest = parse_name(files(settings)[-1].name)
    kill(settings, store)
    again, _ = opened(settings)
    assert slugs(again) == ["t0", "t1"]
    with again.read() as db:
        (restored,) = list_restorations(db)
    assert (
        newest and restored.passed_over == files(settings)[2].name and restored.newest_at == newest.taken_at
    )


def test_a_damaged_whole_copy_costs_nothing_where_the_one_before_leads_on(settings: Settings) -> None:
    store, keeper = opened(settings)
    for n in range(3):
        add_task(store, f"t{n}")
        keeper.take()
    keeper.take(whole=True)
    add_task(store, "last")
    keeper.take()
    damage([path for path in files(settings) if path.suffix == ".db"][-1])
    kill(settings, store)
    again, _ = opened(settings)
    assert slugs(again) == ["t0", "t1", "t2", "last"]


def test_where_no_snapshot_is_good_nothing_is_started(settings: Settings) -> None:
    store, keeper = opened(settings)
    keeper.take()
    damage(files(settings)[0])
    kill(settings, store)
    with pytest.raises(StorageError, match="None of the 1 whole snapshots"):
        opened(settings)
    assert not settings.db.exists()


# ---- the Hub --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["401", "404", "429", "500", "cut", "half"])
def test_trouble_at_the_hub_never_starts_an_older_or_empty_study(
    settings: Settings, hub: HubStub, trouble: str
) -> None:
    settings = hub_settings(settings, hub)
    store, keeper = opened(settings)
    for slug in ("one", "two"):
        add_task(store, slug)
        keeper.take()
    kill(settings, store)
    before, hub.trouble = dict(hub.files), trouble
    with pytest.raises(StorageError):
        opened(settings)
    assert not settings.db.exists() and all(name in hub.files for name in before if parse_name(name))
    hub.trouble = ""
    assert slugs(opened(settings)[0]) == ["one", "two"]


def test_two_servers_cannot_both_begin_a_term_at_the_hub(settings: Settings, hub: HubStub) -> None:
    settings = hub_settings(settings, hub)
    (place,) = startup.build_places(settings.snapshots)
    place.open()
    assert place.take(1, {"id": "a"}) and not place.take(1, {"id": "b"})
    info = place._info()  # type: ignore[attr-defined]
    place.beat(1, {"id": "a"})
    place._info = lambda: info  # type: ignore[attr-defined]
    assert not place.take(2, {"id": "late"}), "a look from before the last commit is no ground to take over"


def test_the_hub_s_history_is_removed_once_a_day(settings: Settings, hub: HubStub) -> None:
    """What a whole copy drops stays in the history, and so do people who were removed, until it is squashed."""
    store, keeper = opened(hub_settings(settings, hub))
    keeper.take(whole=True)
    assert hub.squashed == 1
    for n in range(10):
        add_task(store, f"t{n}")
        keeper.take(whole=n % 2 == 0)
    assert hub.squashed == 1 and set(hub.history) > set(hub.files), "deleted files are in the history"
    place = keeper.shippers[0].place
    place._squashed_at -= hub_place.SQUASH_SECONDS  # type: ignore[attr-defined]
    hub.trouble, hub.at = "500", "/super-squash/"
    keeper.take(whole=True)
    assert hub.squashed == 1 and not keeper.list_states()[0].error, "a squash that fails costs no snapshot"
    hub.trouble = ""
    keeper.take(whole=True)
    assert hub.squashed == 2 and set(hub.history) == set(hub.files)
    kill(settings, store)
    assert len(slugs(opened(hub_settings(settings, hub))[0])) == 10


def test_a_public_data_set_gets_nothing(settings: Settings, hub: HubStub) -> None:
    hub.exists, hub.private = True, False
    _, keeper = opened(hub_settings(settings, hub))
    keeper.take()
    (state,) = keeper.list_states()
    assert "public" in state.error and not parse_names(hub.files)


@pytest.mark.slow
def test_no_fault_of_the_hub_loses_or_outranks_a_good_snapshot(settings: Settings, tmp_path: Path) -> None:
    """Seeded sequences of saves, faults, kills, wipes and restarts; after the faults, all that was shipped is there."""
    for seed in range(SEQUENCES):
        hub = HubStub()
        hub.exists = True
        hub.start()
        try:
            run_sequence(
                hub_settings(replace(settings, db=tmp_path / str(seed) / "coeval.db"), hub), hub, seed
            )
        finally:
            hub.stop()


def run_sequence(settings: Settings, hub: HubStub, seed: int) -> None:
    chance = random.Random(seed)
    hub.fails = lambda: chance.random() < 0.5
    store, keeper = opened(settings)
    saved, shipped = 0, 0
    for _ in range(8):
        hub.trouble = chance.choice(("", *TROUBLES))
        for _ in range(chance.randrange(4)):
            add_task(store, f"t{saved}")
            saved += 1
        keeper.read()
        if keeper.shippers[0].ship(whole=chance.random() < 0.2):
            shipped = saved
        if chance.random() < 0.4:
            kill(settings, store)
            for _ in range(4):
                try:
                    store, keeper = opened(settings)
                    break
                except StorageError:
                    assert not settings.db.exists(), "something was started over a place that cannot be read"
            else:
                hub.trouble = ""
                store, keeper = opened(settings)
            there = len(slugs(store))
            assert there >= shipped, f"seed {seed}: {shipped} were shipped, {there} came back"
            saved = shipped = there
    hub.trouble = ""
    keeper.take()
    kill(settings, store)
    assert len(slugs(opened(settings)[0])) == saved, f"seed {seed}"
