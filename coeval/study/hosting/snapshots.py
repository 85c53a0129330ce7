"""Keeping snapshots while the app runs: every few minutes and at the end, without ever stopping annotation."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from weakref import WeakKeyDictionary

from coeval.clock import now
from coeval.domain import Person
from coeval.errors import CoevalError, StorageError
from coeval.settings import Settings
from coeval.store import Store
from coeval.store.snapshots import copies
from coeval.store.snapshots.copies import Restoration
from coeval.store.snapshots.shelves import Shelf, build_shelves
from coeval.study.access import OWNERS, Context, use_case


@dataclass(frozen=True, slots=True)
class ShelfState:
    """How the last snapshot to one place went."""

    title: str
    saved_at: str = ""
    """When the newest snapshot there was taken; empty before the first."""
    failed_at: str = ""
    error: str = ""
    """Why the last try failed; empty where it did not."""


@dataclass(frozen=True, slots=True)
class SnapshotState:
    """What owners see of the snapshots."""

    minutes: float
    shelves: tuple[ShelfState, ...] = ()
    restorations: tuple[Restoration, ...] = ()


class Keeper:
    """Takes snapshots of one store from a thread of its own."""

    def __init__(self, store: Store, shelves: Sequence[Shelf], minutes: float) -> None:
        self.store, self.shelves, self.minutes = store, list(shelves), minutes
        self.states = {shelf.title: ShelfState(shelf.title) for shelf in shelves}
        self._saved: dict[str, str] = {}
        self._busy = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="snapshots", daemon=True)
        KEEPERS[store] = self

    def start(self) -> None:
        self._thread.start()

    def stop(self, patience: float = 30.0) -> None:
        """Stop, and take a last snapshot of whatever changed."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(patience)
        self.take()

    def _run(self) -> None:
        while not self._stop.wait(self.minutes * 60):
            self.take()

    def take(self) -> None:
        """Take one snapshot to every place that has not this very content yet; failures are noted, not raised."""
        with self._busy, TemporaryDirectory(prefix="coeval-snapshot-") as folder:
            copy = Path(folder) / "copy.db"
            try:
                name = copies.copy_file(self.store, copy)
            except CoevalError as error:
                for shelf in self.shelves:
                    self._note_failure(shelf, error)
                return
            for shelf in self.shelves:
                self._put(shelf, copy, name)

    def _put(self, shelf: Shelf, copy: Path, name: str) -> None:
        digest = name.rsplit("-", 1)[1]
        if self._saved.get(shelf.title) == digest:
            return
        try:
            shelf.put(copy, name, copies.choose_drops)
        except CoevalError as error:
            self._note_failure(shelf, error)
            return
        self._saved[shelf.title] = digest
        self.states[shelf.title] = ShelfState(shelf.title, saved_at=copies.time_of(name))

    def _note_failure(self, shelf: Shelf, error: CoevalError) -> None:
        old = self.states[shelf.title]
        self.states[shelf.title] = replace(old, failed_at=now(), error=str(error))


KEEPERS: WeakKeyDictionary[Store, Keeper] = WeakKeyDictionary()
"""The keeper of each open store, for owners to see how it fares."""


def open_kept(settings: Settings) -> tuple[Store, Keeper | None]:
    """Open the live file, brought back from the newest good snapshot where it is gone; and its keeper.

    Raises:
        StorageError: the file cannot be opened, or it is gone and no place of snapshots can be asked.
    """
    if not settings.snapshots.wanted:
        return Store(settings.db), None
    shelves = build_shelves(settings.snapshots)
    restored = copies.restore_newest(settings.db, shelves)
    store = Store(settings.db)
    if restored:
        with store.write() as db:
            copies.record_restoration(db, restored)
    return store, Keeper(store, shelves, settings.snapshots.minutes)


@use_case(OWNERS)
def get_snapshots(context: Context, person: Person) -> SnapshotState | None:
    """See where snapshots go, how the last ones went, and what the file came back from."""
    with context.store.read() as db:
        restorations = tuple(copies.list_restorations(db))
    keeper = KEEPERS.get(context.store)
    if keeper is None:
        return SnapshotState(0, (), restorations) if restorations else None
    return SnapshotState(keeper.minutes, tuple(keeper.states.values()), restorations)


@use_case(OWNERS)
def take_snapshot(context: Context, person: Person) -> SnapshotState | None:
    """Take a snapshot now."""
    keeper = KEEPERS.get(context.store)
    if keeper is None:
        raise StorageError(
            "No place for snapshots is set: set COEVAL_SNAPSHOT_DIR to a folder, or COEVAL_SNAPSHOT_REPO and HF_TOKEN."
        )
    keeper.take()
    return get_snapshots(context, person)
