"""What the file survives: a full or read-only disk, locks, limits of the system, and files that are none."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from coeval.cli.commands import main
from coeval.cli.results import reported
from coeval.datasets.example_studies import SLUG
from coeval.domain import Call, Person, Study
from coeval.errors import BusyError, StorageError
from coeval.settings import load_settings
from coeval.store import Database, Store
from coeval.store.queries.calls import StoredLedger
from coeval.store.soundness import examine_file
from coeval.usecases.access import Context
from coeval.usecases.hosting import maintenance as transferring
from coeval.usecases.study_import import add_finished_example, import_study
from tests.conftest import make_study
from tests.support.serving.live_server import free_port

pytestmark = pytest.mark.sqlite

NOBODY = 65534
ROOT = Path(__file__).resolve().parents[2]


def test_a_full_disk_is_one_sentence_and_changes_nothing(
    context: Context, owner: Person, study: Study
) -> None:
    with context.store.write() as db:
        pages = db.conn.execute("PRAGMA page_count").fetchone()[0]
    context.store._writer.conn.execute(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(StorageError, match="disk .* is full.*Nothing was written"):
        import_study(context, owner, make_study(200))
    context.store._writer.conn.execute("PRAGMA max_page_count = 1073741823")
    import_study(context, owner, study)
    with context.store.read() as db:
        assert examine_file(db).totals["instance"] == 4


@pytest.mark.slow
def test_a_lock_that_stays_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coeval.store.engines.sqlite_file.BUSY_SECONDS", 0.1)
    store = Store(tmp_path / "c.db")
    other = sqlite3.connect(tmp_path / "c.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError, match="locked by another program for more than 0.1 seconds"), store.write():
        pass
    call = Call("a" * 64, 0, "m", "", "{}", response="Rating: 1")
    with ThreadPoolExecutor(1) as pool:
        # what was paid for waits for longer than a save, as with PostgreSQL
        recorded = pool.submit(StoredLedger(store).record_calls, [call])
        with pytest.raises(TimeoutError):
            recorded.result(1.0)
        other.execute("ROLLBACK")
        recorded.result(60)
    with store.write() as db:
        assert [row["response"] for row in db.query("SELECT response FROM call")] == ["Rating: 1"]
    store.close()


@pytest.mark.parametrize(
    ("content", "said"), [(b"this is no database, but a text" * 100, "not a CoEval database")]
)
def test_a_file_that_is_no_database_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=said):
        Store(path)
    assert path.read_bytes() == content


@contextmanager
def without_rights() -> Iterator[None]:
    """Root may write everything: be nobody for a moment."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that others may read, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_file_that_may_only_be_read_is_one_sentence(open_folder: Path) -> None:
    path = open_folder / "c.db"
    Store(path).close()
    content = path.read_bytes()
    path.chmod(0o444)
    open_folder.chmod(0o555)
    with without_rights(), pytest.raises(StorageError, match="read-only|cannot be opened"):
        store = Store(path)
        with store.write() as db:
            db.conn.execute("DELETE FROM annotator")
    assert path.read_bytes() == content


def make_closed_or_killed(path: Path, *, killed: bool) -> None:
    """A finished study; ``killed``: its latest changes are in the log beside the file."""
    store = Store(path.parent / "work" / "c.db")
    add_finished_example(Context(store, load_settings({}, db=store.path)))
    if not killed:
        store.close()
    for one in store.path.parent.iterdir():
        if not one.name.endswith("-shm"):
            shutil.copyfile(one, path.with_name(one.name))
    store.close()
    shutil.rmtree(store.path.parent)


def run_what_reads(path: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str, bytes, int]:
    """What the commands that only read say of a file: the check, the statistics, the scores, and a copy's saves."""
    out.mkdir(mode=0o777)
    out.chmod(0o777)
    capsys.readouterr()
    main(["check", "--db", str(path)])
    checked = capsys.readouterr().out
    main(["stats", "--db", str(path), "--task", SLUG])
    said = capsys.readouterr().out
    main(["export", "--db", str(path), "--task", SLUG, "--out", str(out / "files")])
    main(["study", "export", "--db", str(path), "--task", SLUG, "--people", "names", str(out / "study.zip")])
    main(["backup", "--db", str(path), str(out / "copy.db")])
    copy = Store(out / "copy.db", read_only=True)
    with copy.read() as db:
        return checked, said, (out / "files" / "scores.csv").read_bytes(), len(list_saves(db))


def list_saves(db: Database) -> list[str]:
    return [uid for (uid,) in db.conn.execute("SELECT uid FROM submission")]


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True])
def test_a_sound_file_in_a_folder_that_may_only_be_read_can_be_read(
    open_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], killed: bool
) -> None:
    path = open_folder / "c.db"
    make_closed_or_killed(path, killed=killed)
    make_closed_or_killed(tmp_path / "c.db", killed=killed)
    expected = run_what_reads(tmp_path / "c.db", tmp_path / "out", capsys)
    assert "sound" in expected[0] and expected[3] > 100
    with tempfile.TemporaryDirectory() as out:
        Path(out).chmod(0o777)
        for one in open_folder.iterdir():
            one.chmod(0o444)
        open_folder.chmod(0o555)
        before = {one.name: one.read_bytes() for one in open_folder.iterdir()}
        assert set(before) == ({"c.db", "c.db-wal"} if killed else {"c.db"})
        with without_rights():
            found = run_what_reads(path, Path(out) / "out", capsys)
    assert (found[0], found[1], found[3]) == (expected[0], expected[1], expected[3])
    assert found[2].count(b"\n") == expected[2].count(b"\n")
    assert {one.name: one.read_bytes() for one in open_folder.iterdir()} == before
    assert not list(Path(tempfile.gettempdir()).glob("coeval-read-*"))


def test_a_folder_that_may_only_be_read_is_one_sentence(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    with without_rights(), pytest.raises(StorageError, match="cannot be opened|read-only"):
        Store(open_folder / "c.db")
    assert not list(open_folder.iterdir())


def test_a_backup_taken_while_people_write_is_sound(context: Context, owner: Person, tmp_path: Path) -> None:
    import_study(context, owner, make_study(50))
    with context.store.write() as db:
        db.conn.execute("UPDATE task SET name = 'not yet committed'")
        context.store.backup(tmp_path / "copy.db")
    copy = Store(tmp_path / "copy.db")
    with copy.read() as db:
        assert examine_file(db).sound
        assert db.conn.execute("SELECT name FROM task").fetchone() == ("A task",)
    copy.close()


def test_check_finds_what_is_wrong(context: Context, owner: Person, study: Study) -> None:
    import_study(context, owner, study)
    connection = sqlite3.connect(context.store.path)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("DELETE FROM criterion")
    connection.commit()
    connection.close()
    with context.store.read() as db:
        found = examine_file(db).faults
    assert any("draft without its criterion" in fault for fault in found)


def begin_import(folder: Path) -> subprocess.Popen[str]:
    """An import of many instances that has written some of them."""
    with (folder / "many.csv").open("w") as file:
        file.write("input,output\n")
        file.writelines(f"Question {n}?,{'word ' * 100}\n" for n in range(60_000))
    Store(folder / "c.db").close()
    command = ["import", str(folder / "many.csv"), "--db", str(folder / "c.db"), "--task", "many"]
    process = subprocess.Popen(
        [sys.executable, "-m", "coeval", *command],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        # a shell starts what runs in the background without Ctrl+C, and what it starts inherits that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    store = Store(folder / "c.db", read_only=True)
    while not count_rows(store, "instance"):
        assert process.poll() is None
        time.sleep(0.02)
    store.close()
    return process


def count_rows(store: Store, table: str) -> int:
    with store.read() as db:
        (n,) = db.conn.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(n)


@pytest.mark.slow
def test_ctrl_c_is_one_line_and_takes_the_import_back(tmp_path: Path) -> None:
    process = begin_import(tmp_path)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert (said, process.returncode) == ("coeval: interrupted by Ctrl+C.\n", 130)
    store = Store(tmp_path / "c.db")
    assert [count_rows(store, table) for table in ("instance", "task", "import_batch")] == [0, 0, 0]
    store.close()


def test_a_server_that_may_open_few_files_says_so(tmp_path: Path) -> None:
    command = f"app.py --db {tmp_path / 'c.db'} --port {free_port()}"
    shell = f"ulimit -n 64 && exec {sys.executable} {command}"
    done = subprocess.run(["sh", "-c", shell], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("coeval: This process may open 64 files at a time, but a server needs 256")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "not enough memory"),
        (ImportError("libscipy_openblas.so: failed to map segment from shared object"), "not enough memory"),
        (OSError(errno.EMFILE, "Too many open files"), "too many files are open"),
    ],
)
def test_limits_of_the_system_are_one_sentence(
    error: Exception, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def run() -> None:
        raise error

    with pytest.raises(SystemExit) as ended:
        reported(run)
    lines = capsys.readouterr().err.splitlines()
    assert ended.value.code == 1 and len(lines) == 1 and said in lines[0]


def test_an_interrupted_move_leaves_nothing(
    context: Context, owner: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_study(context, owner, make_study())
    target = tmp_path / "there" / "moved.db"

    def interrupt(*_: object) -> None:
        assert not target.exists() and list(target.parent.iterdir())
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(transferring, "copy_rows", interrupt)
        transferring.transfer(context.store.address, str(target))
    assert not list(target.parent.iterdir())
    # what a killed one left is in nobody's way
    target.with_name("moved.db.part").write_bytes(b"half")
    transferring.transfer(context.store.address, str(target))
    assert [one.name for one in target.parent.iterdir()] == ["moved.db"]
