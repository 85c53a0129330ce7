"""What snapshots of a large file cost: neither the start nor the end of a server goes through the whole of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from coeval.settings import Settings
from coeval.usecases.hosting import replica
from tests.store.snapshots import test_snapshots
from tests.store.snapshots.test_snapshots import add_task, opened

settings = test_snapshots.settings
"""A fixture."""


def kinds(settings: Settings) -> list[str]:
    return [path.suffix for path in settings.snapshots.folder.iterdir() if path.suffix in (".db", ".pages")]


def test_a_server_that_is_asked_to_stop_sends_changes_and_copies_nothing_whole(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "CHAIN_FILES", 0)
    monkeypatch.setattr(replica, "FILE_BYTES", 10**12)
    store, keeper = opened(settings)
    keeper.take()
    add_task(store, "a")
    before = kinds(settings).count(".db")
    keeper.take()
    assert kinds(settings).count(".db") > before  # a whole copy is due at every file
    copied: list[Path] = []
    monkeypatch.setattr(store, "backup", copied.append)
    add_task(store, "b")
    keeper.stop()
    assert not copied and ".pages" in kinds(settings)
    store.close()


@pytest.mark.parametrize(("size", "most"), [(0, 200), (500_000_000, 500), (10**10, 2_000)])
def test_a_large_file_is_copied_more_seldom(settings: Settings, size: int, most: int) -> None:
    store, keeper = opened(settings)
    (one,) = keeper.shippers
    keeper.take()
    one._whole_bytes = size
    one._chain_files = most - 1
    assert not one._is_whole_due()
    one._chain_files = most
    assert one._is_whole_due()
    keeper.stop()
    store.close()
