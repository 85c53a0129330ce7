"""A Space that forgets nothing: snapshots to a folder and to a stand-in of the Hub, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import Task
from coeval.errors import NotAllowedError, StorageError
from coeval.settings import Settings, Snapshots, load_settings
from coeval.store import Store
from coeval.store.queries import tasks
from coeval.store.snapshots.copies import NAME, choose_drops, is_sound, list_restorations, restore_newest
from coeval.store.snapshots.shelves import FolderShelf, HubShelf
from coeval.study.access import OPERATOR, Context
from coeval.study.hosting.snapshots import Keeper, get_snapshots, open_kept, take_snapshot
from coeval.study.people.sessions import sign_in
from tests.support.hub_stub import HubStub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubStub]:
    stub = HubStub()
    stub.start()
    yield stub
    stub.stop()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    base = load_settings({}, db=tmp_path / "live" / "coeval.db")
    return replace(base, snapshots=Snapshots(folder=tmp_path / "shelf"))


def add_task(store: Store, slug: str) -> None:
    with store.write() as db:
        tasks.add_task(db, Task(slug, slug))


def slugs(store: Store) -> list[str]:
    with store.read() as db:
        return [task.slug for task in tasks.list_tasks(db)]


def lose(settings: Settings, store: Store) -> None:
    """The disk is wiped, as at a Space's restart."""
    store.close()
    for path in settings.db.parent.iterdir():
        path.unlink()


def opened(settings: Settings) -> tuple[Store, Keeper]:
    store, keeper = open_kept(settings)
    assert keeper is not None
    return store, keeper


def hub_settings(settings: Settings, hub: HubStub) -> Settings:
    snapshots = Snapshots(repo="team/study", token=hub.token, endpoint=hub.url)
    return replace(settings, snapshots=snapshots)


def test_an_empty_disk_comes_back_from_the_newest_snapshot(settings: Settings) -> None:
    store, keeper = opened(settings)
    add_task(store, "one")
    keeper.take()
    add_task(store, "two")
    keeper.stop()  # the last snapshot, at shutdown
    lose(settings, store)
    again, _ = opened(settings)
    assert slugs(again) == ["one", "two"]
    with again.read() as db:
        (restored,) = list_restorations(db)
    assert not list(settings.db.parent.glob("*.part*"))
    assert restored.source.startswith("folder") and NAME.fullmatch(restored.name)


def test_the_same_content_is_sent_once(settings: Settings) -> None:
    store, keeper = opened(settings)
    for _ in range(3):
        keeper.take()
    assert len(list(settings.snapshots.folder.iterdir())) == 1  # type: ignore[union-attr]
    add_task(store, "one")
    keeper.take()
    assert len(list(settings.snapshots.folder.iterdir())) == 2  # type: ignore[union-attr]


def test_a_snapshot_never_replaces_a_live_file(settings: Settings) -> None:
    store, keeper = opened(settings)
    keeper.take()
    add_task(store, "after the snapshot")
    store.close()
    again, _ = opened(settings)
    assert slugs(again) == ["after the snapshot"]
    with again.read() as db:
        assert list_restorations(db) == []


def test_a_damaged_live_file_is_put_aside_not_deleted(settings: Settings) -> None:
    store, keeper = opened(settings)
    add_task(store, "one")
    keeper.stop()
    store.close()
    for path in settings.db.parent.glob("*-wal"):
        path.unlink()
    settings.db.write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000)
    again, _ = opened(settings)
    assert slugs(again) == ["one"]
    assert [path for path in settings.db.parent.iterdir() if ".damaged-" in path.name]


def test_the_newest_good_one_is_taken_where_newer_ones_are_cut_short(settings: Settings) -> None:
    store, keeper = opened(settings)
    add_task(store, "one")
    keeper.take()
    add_task(store, "two")
    keeper.stop()
    newest = max(settings.snapshots.folder.iterdir())  # type: ignore[union-attr]
    newest.write_bytes(newest.read_bytes()[:-4096])
    (newest.parent / "coeval-99991231T235959999Z-0123456789abcdef.db").write_bytes(b"not a database")
    (newest.parent / "notes.txt").write_text("somebody's own file")
    lose(settings, store)
    again, _ = opened(settings)
    assert slugs(again) == ["one"]


def test_where_no_snapshot_is_good_nothing_is_started(settings: Settings) -> None:
    store, keeper = opened(settings)
    keeper.stop()
    for path in settings.snapshots.folder.iterdir():  # type: ignore[union-attr]
        path.write_bytes(b"")
    lose(settings, store)
    with pytest.raises(StorageError, match="None of the 1 snapshots is good"):
        open_kept(settings)
    assert not settings.db.exists()


def test_work_under_way_is_in_the_copy_or_not_at_all(settings: Settings) -> None:
    store, keeper = opened(settings)
    with store.write() as db:
        tasks.add_task(db, Task("half", "half"))
        keeper.take()  # from another connection: sees what was committed, and does not wait
    (copy,) = settings.snapshots.folder.iterdir()  # type: ignore[union-attr]
    assert is_sound(copy) and slugs(Store(copy)) == []


def test_a_folder_that_cannot_be_written_is_shown_and_stops_nothing(
    settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    settings = replace(settings, snapshots=Snapshots(folder=tmp_path / "file" / "below"))
    store, keeper = opened(settings)
    keeper.take()
    (state,) = keeper.states.values()
    assert "Not a directory" in state.error and state.failed_at
    add_task(store, "one")
    assert slugs(store) == ["one"]


def test_to_the_hub_and_back(settings: Settings, hub: HubStub) -> None:
    settings = hub_settings(settings, hub)
    store, keeper = opened(settings)
    add_task(store, "one")
    keeper.stop()
    assert hub.private and len(hub.files) == 1 and all(NAME.fullmatch(name) for name in hub.files)
    lose(settings, store)
    again, _ = opened(settings)
    assert slugs(again) == ["one"]


@pytest.mark.parametrize("trouble", ["refuse", "hang up"])
def test_an_upload_that_fails_is_shown_kept_out_and_made_up_for(
    settings: Settings, hub: HubStub, trouble: str
) -> None:
    settings = hub_settings(settings, hub)
    store, keeper = opened(settings)
    keeper.take()
    add_task(store, "one")
    before, hub.trouble = dict(hub.files), trouble
    keeper.take()
    (state,) = keeper.states.values()
    assert state.error and state.failed_at and state.saved_at and hub.token not in state.error
    assert hub.files == before
    add_task(store, "two")  # annotation goes on
    hub.trouble = ""
    keeper.take()
    (state,) = keeper.states.values()
    assert not state.error and len(hub.files) == 2


def test_a_download_cut_short_is_noticed(settings: Settings, hub: HubStub) -> None:
    settings = hub_settings(settings, hub)
    store, keeper = opened(settings)
    keeper.stop()
    lose(settings, store)
    hub.trouble = "half"
    with pytest.raises(StorageError, match="None of the 1 snapshots is good"):
        open_kept(settings)


def test_a_hub_out_of_reach_never_lets_an_empty_file_take_the_place(settings: Settings, hub: HubStub) -> None:
    settings = hub_settings(settings, hub)
    hub.exists, hub.trouble = True, "refuse"
    with pytest.raises(StorageError, match="does not start with an empty file"):
        open_kept(settings)
    assert not settings.db.exists()


def test_a_public_data_set_gets_nothing(settings: Settings, hub: HubStub) -> None:
    hub.exists, hub.private = True, False
    _, keeper = opened(hub_settings(settings, hub))
    keeper.take()
    (state,) = keeper.states.values()
    assert "public" in state.error and hub.files == {}


def test_one_commit_adds_the_new_and_drops_the_old(settings: Settings, hub: HubStub) -> None:
    hub.exists = True
    hub.files = {f"coeval-20260101T0000{n:02}000Z-{n:016x}.db": b"old" for n in range(20)}
    store, keeper = opened(replace(settings, snapshots=Snapshots(folder=settings.snapshots.folder)))
    keeper.shelves = [HubShelf("team/study", hub.token, hub.url)]
    keeper.states = {shelf.title: keeper.states.popitem()[1] for shelf in keeper.shelves}
    keeper.take()
    # 21 are there: the newest twelve stay, which the newest of the one old day is among: nine go
    assert len(hub.files) == 12 and len(hub.commits) == 1
    assert sum(line.startswith("deletedFile") for line in hub.commits[0]) == 9


def test_what_is_dropped_is_all_but_the_newest_and_one_a_day() -> None:
    # 40 days with two snapshots each: the newest 12 (6 days) and the newest of 30 days, 6 of which are the same
    names = [
        f"coeval-2026{m:02}{d:02}T{h:02}0000000Z-{'0' * 16}.db"
        for m in (1, 2)
        for d in range(1, 21)
        for h in (1, 2)
    ]
    dropped = choose_drops([*names, "notes.txt"])
    assert len(dropped) == 80 - 12 - (30 - 6) and "notes.txt" not in dropped
    assert max(names) not in dropped


def test_owners_see_it_and_others_do_not(settings: Settings) -> None:
    store, _ = opened(settings)
    context = Context(store, settings)
    owner, ana = sign_in(context, "Olu")[0], sign_in(context, "Ana")[0]
    state = take_snapshot(context, owner)
    assert state and state.shelves[0].saved_at and get_snapshots(context, owner) == state
    with pytest.raises(NotAllowedError):
        take_snapshot(context, ana)
    bare = Context(Store(settings.db.with_name("other.db")), settings)
    with pytest.raises(StorageError, match="COEVAL_SNAPSHOT_DIR"):
        take_snapshot(bare, OPERATOR)


def test_a_file_of_somebody_elses_is_no_snapshot(tmp_path: Path) -> None:
    shelf = FolderShelf(tmp_path / "shelf")
    shelf.folder.mkdir()
    (shelf.folder / "coeval.db").write_bytes(b"x")
    assert restore_newest(tmp_path / "live.db", [shelf]) is None
