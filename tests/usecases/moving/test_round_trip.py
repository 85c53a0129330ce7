"""What comes back of a study equals what left, field by field, whatever is in it."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.extensions.study_files.queries_schema import STAYS, get_schema
from coeval.extensions.study_files.transfer import (
    Naming,
    export_study_file,
    import_study_file,
)
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.hosting.maintenance import check_file
from coeval.usecases.study_import import import_study
from tests.support.studies.scored_study import scored
from tests.support.studies.whole_study import (
    fill_study,
    list_last_ids,
    list_people_groups,
    snapshot,
    use_every_extension,
)

STUDIES = int(os.environ.get("COEVAL_ROUND_TRIPS", "6"))


def new_context(folder: Path, migrated: Path, name: str) -> Context:
    path = folder / f"{name}.db"
    shutil.copyfile(migrated, path)
    return Context(Store(path), load_settings({}, db=path))


def test_every_table_goes_or_is_said_to_stay(context: Context) -> None:
    """Whoever adds a table that hangs on no task says in ``STAYS`` that it stays, or gives it a reference."""
    with context.store.write() as db:
        use_every_extension(db)
        tables = {name for name in db.table_names() if not name.startswith("_")}
    assert tables == get_schema().names | set(STAYS)
    assert not get_schema().names & set(STAYS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(STUDIES))
def test_what_comes_back_equals_what_left(seed: int, tmp_path: Path, migrated_file: Path) -> None:
    here, there = (new_context(tmp_path, migrated_file, name) for name in ("here", "there"))
    fill_study(here, seed)
    fill_study(there, seed + 1_000, "other")
    before, known = snapshot(there.store), list_last_ids(there.store)
    path = tmp_path / "study.zip"
    manifest, _ = export_study_file(here, OPERATOR, "demo", path, people=Naming.NAMES, ledger=True)
    moved = import_study_file(there, OPERATOR, path, ledger=True)
    left, came = snapshot(here.store), snapshot(there.store, known)
    for table, rows in left.items():
        assert came[table] == rows, table
    assert list_people_groups(there.store, known) == list_people_groups(here.store)
    assert {name for name, rows in left.items() if rows} == {
        name for name, note in manifest.tables.items() if note.rows
    }
    assert moved.rows["submission"] == len(left["submission"])
    kept = {table: rows[: len(before[table])] for table, rows in snapshot(there.store).items()}
    assert {t: r for t, r in kept.items() if get_schema().get(t).has_id} == {
        t: r for t, r in before.items() if get_schema().get(t).has_id
    }
    assert check_file(there, OPERATOR).sound


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_study_goes_to_another_engine_and_back(
    context: Context, tmp_path: Path, migrated_file: Path
) -> None:
    """Into PostgreSQL, where people go on, and from there into a file: the same rows, and ids that do not collide."""
    here, back = (new_context(tmp_path, migrated_file, name) for name in ("here", "back"))
    fill_study(here, 7)
    export_study_file(here, OPERATOR, "demo", tmp_path / "there.zip", people=Naming.NAMES, ledger=True)
    import_study_file(context, OPERATOR, tmp_path / "there.zip", ledger=True)
    new = scored(["Zoe"], n_documents=1)
    import_study(context, OPERATOR, replace(new, task=replace(new.task, slug="new")))
    export_study_file(context, OPERATOR, "demo", tmp_path / "back.zip", people=Naming.NAMES, ledger=True)
    import_study_file(back, OPERATOR, tmp_path / "back.zip", ledger=True)
    left, came = snapshot(here.store), snapshot(back.store)
    for table, rows in left.items():
        assert came[table] == rows, table
