"""Where the file stands: odd names, locks, files that are moved away, copies, and files that are not ours."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.cli.commands import main
from coeval.domain import Person, Study
from coeval.errors import DamagedError, StorageError
from coeval.settings import Settings, Snapshots, load_settings
from coeval.store import Store
from coeval.store.engines.sqlite_file import is_damaged
from coeval.store.snapshots.restoration import list_restorations
from coeval.usecases.access import Context
from coeval.usecases.hosting.startup import open_kept
from coeval.usecases.scrutiny.steps import get_step, submit
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_place, make_study
from tests.support.studies.scrutiny_steps import sent_of

pytestmark = pytest.mark.sqlite

ODD_NAMES = ("study #2", "is it?", "a%20b", "50% off", "naïve", "a b;c&d=e", "..%2f")


def make_file(path: Path) -> None:
    store = Store(path)
    context = Context(store, load_settings({}, db=path))
    import_study(context, sign_in(context, "Olu")[0], make_study())
    store.close()


def kept(path: Path) -> Settings:
    """With a place for snapshots beside the file."""
    place = path.parent / "place"
    return replace(
        load_settings({}, db=path),
        snapshots=Snapshots(folder=place if place.exists() else make_place(place)),
    )


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("folder", ODD_NAMES)
def test_a_sound_file_is_no_damaged_one_whatever_its_folder_is_called(folder: str, tmp_path: Path) -> None:
    path = tmp_path / folder / "c.db"
    make_file(path)
    assert not is_damaged(path)
    store, keeper = open_kept(kept(path))
    keeper.stop()
    store.close()
    with Store(path).read() as db:
        assert not list_restorations(db) and db.query("SELECT * FROM task")
    assert not [name for name in names(path.parent) if "aside" in name]


@pytest.fixture
def locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sound file that another program has locked, readers and all."""
    monkeypatch.setattr("coeval.store.engines.sqlite_file.BUSY_SECONDS", 0.05)
    path = tmp_path / "c.db"
    make_file(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    other.execute("UPDATE task SET name = name")
    yield path
    other.close()


def test_a_locked_file_is_no_damaged_one(locked: Path) -> None:
    with pytest.raises(StorageError, match="locked by another program for more than 0.05 seconds") as raised:
        open_kept(kept(locked))
    assert not isinstance(raised.value, DamagedError)
    assert not [name for name in names(locked.parent) if "aside" in name]


def test_damage_is_told_from_everything_else(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    make_file(path)
    content = bytearray(path.read_bytes())
    assert len(content) > 30_000
    content[12_000:20_000] = bytes(8_000)
    path.write_bytes(content)
    assert is_damaged(path)
    path.write_bytes(b"a text, and no database at all" * 100)
    assert is_damaged(path) and is_damaged(path, whole=False)
    with pytest.raises(StorageError, match="cannot be opened"):
        is_damaged(tmp_path / "none.db")


def _delete(path: Path) -> None:
    path.unlink()


def _replace(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copyfile(path, copy)
    copy.replace(path)


def _delete_log(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


@pytest.mark.parametrize("befall", [_delete, _replace, _delete_log])
def test_no_save_is_acknowledged_into_a_file_that_lost_its_place(
    befall: Callable[[Path], None], context: Context, owner: Person, study: Study
) -> None:
    import_study(context, owner, study)
    step = get_step(context, owner, "demo")
    befall(context.store.path)
    with pytest.raises(StorageError, match="moved, deleted or replaced"):
        submit(context, owner, "demo", sent_of(step, 4))
    with pytest.raises(StorageError, match="moved, deleted or replaced"):
        get_step(context, owner, "demo")


def test_a_file_that_goes_while_a_save_is_under_way_is_told(context: Context) -> None:
    with pytest.raises(StorageError, match="moved, deleted or replaced"), context.store.write() as db:
        db.conn.execute("UPDATE task SET name = 'x'")
        context.store.path.unlink()


def test_a_file_put_back_is_worked_on_again(context: Context, owner: Person, study: Study) -> None:
    path = context.store.path
    away = path.with_name("away.db")
    path.rename(away)
    with pytest.raises(StorageError, match="moved"):
        import_study(context, owner, study)
    away.rename(path)
    assert import_study(context, owner, study).instances == 4


def test_check_and_backup_make_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["check"], ["backup", str(tmp_path / "copy.db")]):
        with pytest.raises(SystemExit):
            main([*command, "--db", str(tmp_path / "typo" / "none.db")])
        assert "There is no file" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_file_of_another_program_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "places.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmark (url TEXT)")
    connection.close()
    content = path.read_bytes()
    with pytest.raises(StorageError, match="another program"):
        Store(path)
    with pytest.raises(SystemExit):
        main(["check", "--db", str(path)])
    assert "another program" in capsys.readouterr().err
    assert path.read_bytes() == content


def test_a_full_disk_names_the_file_that_is_full(
    context: Context, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(context.store.path.parent)
    temporary = Path("/temporary files")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(temporary))
    monkeypatch.setattr(
        "shutil.disk_usage", lambda path: usage._replace(free=0 if path == temporary else 10**9)
    )
    context.store._writer.conn.execute("PRAGMA max_page_count = 1")
    with pytest.raises(StorageError, match="temporary files in /temporary files is full.*TMPDIR"):
        import_study(context, owner, make_study(200))
