"""What killed processes leave goes at the next start; what somebody may still be at stays."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import Person
from coeval.settings import Snapshots
from coeval.store.queries import imports
from coeval.usecases.access import Context
from coeval.usecases.hosting import maintenance
from tests.store.test_import_in_parts import count_everything, leave_half_done

TWO_DAYS_AGO = time.time() - 2 * maintenance.OLD_SECONDS


@pytest.mark.sqlite
def test_what_was_left_goes_and_what_is_new_stays(
    context: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, shelf = tmp_path / "temporary", tmp_path / "shelf"
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(temporary))
    context = replace(context, settings=replace(context.settings, snapshots=Snapshots(folder=shelf)))
    left = [
        temporary / "coeval-snapshot-old" / "copy.db",
        shelf / "coeval-x.db.part",
        context.store.path.with_name(context.store.path.name + ".part"),
    ]
    kept = [
        temporary / "coeval-snapshot-new" / "copy.db",
        temporary / "of another program" / "copy.db",
        shelf / "coeval-x.db",
    ]
    for path in (*left, *kept):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    for path in (*left, temporary / "of another program", shelf / "coeval-x.db"):
        for each in (path, path.parent) if path.name == "copy.db" else (path,):
            os.utime(each, (TWO_DAYS_AGO, TWO_DAYS_AGO))
    maintenance._sweep(context)
    assert not [path for path in left if path.exists()]
    assert all(path.exists() for path in kept)


def test_an_import_that_was_cut_off_goes(context: Context, owner: Person) -> None:
    before = count_everything(context)
    leave_half_done(context, owner)
    with context.store.write() as db:
        db.conn.execute("DELETE FROM lease")
    maintenance._sweep(context)
    assert count_everything(context) == before
    with context.store.read() as db:
        assert imports.list_unfinished(db) == []
