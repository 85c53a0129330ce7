"""What the file survives: kill -9 under writers, a full or read-only disk, locks, and files that are none."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.clock import now
from coeval.domain import Call, Person, Study
from coeval.errors import BusyError, StorageError
from coeval.settings import load_settings
from coeval.store import Database, Store
from coeval.store.engines.files import is_damaged
from coeval.store.queries import tasks
from coeval.store.queries.drafting import calls, drafts
from coeval.store.queries.drafting.calls import StoredLedger
from coeval.store.snapshots.folder_place import FolderPlace
from coeval.store.snapshots.restoring import list_lineages, restore, survey_places
from coeval.store.soundness import examine_file
from coeval.study.access import Context
from coeval.study.importing.importing import import_study
from coeval.study.importing.staging import remove_unfinished
from coeval.study.scrutiny.steps import get_step, submit
from tests.conftest import make_study
from tests.support.hosting.fault_writer import CONCURRENCY
from tests.support.models.openai_stub import Stub, start_stub
from tests.support.studies.scrutiny_steps import here, sent_of

pytestmark = pytest.mark.sqlite

NOBODY = 65534
ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("COEVAL_KILLS", "3"))
"""CI kills a few times; `COEVAL_KILLS=80 pytest tests/store/test_faults.py -k kill_9` is the whole trial."""

CHECKED_EVERY = 5
"""Kills between two checks of what was imported."""

DRAFTS = "draft IN (SELECT d.id FROM draft d JOIN run r ON r.id = d.run WHERE r.task > 1)"
OF_IMPORTS = {
    "quote": f"draft_row IN (SELECT id FROM draft_row WHERE {DRAFTS})",
    "draft_row": DRAFTS,
    "draft": "run IN (SELECT id FROM run WHERE task > 1)",
    "criteria_set_member": "criteria_set IN (SELECT id FROM criteria_set WHERE task > 1)",
    "run": "task > 1",
    "criteria_set": "task > 1",
    "criterion": "task > 1",
    "column_role": "task > 1",
    "instance": "task > 1",
    "task": "id > 1",
}
"""The rows of imports, those before what they belong to; the first task is the one that people work on."""


def saved_keys(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        return [
            key for (key,) in connection.execute("SELECT uid FROM submission WHERE uid NOT LIKE 'import-%'")
        ]
    finally:
        connection.close()


def write_until_killed(path: Path, url: str, copies: Path, seconds: float) -> list[tuple[str, str]]:
    """What a process that does everything at once has acknowledged before it was killed."""
    writer = subprocess.Popen(
        [sys.executable, "-m", "tests.support.hosting.fault_writer", str(path), url, str(copies)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    lines = []
    while not {"saved", "drafted"} <= {line.split()[0] for line in lines}:
        lines.append(writer.stdout.readline())
        assert lines[-1], "the writers ended by themselves"
    time.sleep(seconds)
    writer.send_signal(signal.SIGKILL)
    # the last line may be cut off by the kill: what was not read whole was not acknowledged
    lines += [line for line in writer.stdout if line.endswith("\n")]
    writer.wait()
    pairs = [line.split() for line in lines]
    return [(what, name) for what, name in pairs]


@pytest.mark.slow
def test_kill_9_under_writers_of_every_kind_loses_nothing(
    context: Context, owner: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_study(context, owner, make_study(300))
    path, copies = context.store.path, tmp_path / "copies"
    copies.mkdir()
    context.store.close()
    moment, done = random.Random(7), Counter[str]()
    saves: list[str] = []
    imports: list[str] = []
    with start_stub(latency=0.02) as stub:
        for kill in range(1, KILLS + 1):
            told = write_until_killed(path, stub.url, copies, moment.uniform(0.3, 1.5))
            done.update(what for what, _ in told)
            saves += [name for what, name in told if what == "saved"]
            imports += [name for what, name in told if what == "imported"]
            wait_for_rest(stub)
            done["backups"] += check_copies(copies)
            if kill % CHECKED_EVERY == 0 or kill == KILLS:
                check_imports(path, imports)
                remove_imports(path)
                imports.clear()
        assert done["backups"]
        check_saves(path, saves)
        answers = check_paid_once(path, stub)
    with capsys.disabled():
        print(f"\n{KILLS} kills: {dict(done)}; {stub.paid} calls paid, {answers} answers in the ledger")


def wait_for_rest(stub: Stub) -> None:
    while stub.in_flight:
        time.sleep(0.01)


def check_saves(path: Path, acknowledged: list[str]) -> None:
    kept = saved_keys(path)
    assert len(kept) == len(set(kept)), "a save is there twice"
    assert set(acknowledged) <= set(kept), "an acknowledged save is gone"
    store = Store(path)
    with store.read() as db:
        health = examine_file(db)
    store.close()
    assert health.sound, health.faults


def check_imports(path: Path, acknowledged: list[str]) -> None:
    """Every import that is seen is whole, and every acknowledged one is seen; the others leave nothing."""
    store = Store(path)
    context = Context(store, load_settings({}, db=path))
    with store.write() as db:
        db.conn.execute("DELETE FROM lease")  # nobody is left who could renew one
    remove_unfinished(context)
    with store.read() as db:
        seen = {task.slug: task.id for task in tasks.list_tasks(db)}
        whole = {slug for slug, number in seen.items() if tasks.count_instances(db, number) == 600}
        assert set(acknowledged) <= seen.keys() == whole
        for number in seen.values():
            (run,) = [run for run in drafts.list_runs(db, number) if run.label == "first"]
            assert drafts.count_drafts(db, run.id) == {"ok": 1200, "unscored": 0}
        assert imports_left(db) == (0, 0)
    store.close()


def remove_imports(path: Path) -> None:
    """Take out the imports that were checked, since all copies and checks to come go through the whole file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for table, which in OF_IMPORTS.items():
            db.execute(f"DELETE FROM {table} WHERE {which}")
        assert not db.execute("PRAGMA foreign_key_check").fetchall()
        db.execute("VACUUM")


def imports_left(db: Database) -> tuple[int, int]:
    unfinished = db.conn.execute("SELECT count(*) FROM import_batch WHERE finished_at IS NULL").fetchone()[0]
    return unfinished, db.conn.execute("SELECT count(*) FROM task WHERE slug LIKE 'import %'").fetchone()[0]


def check_copies(folder: Path) -> int:
    """Whatever has the name of a copy is one, and the snapshots lead back; gives how many backups there were."""
    backups, place = list(folder.glob("*.db")), FolderPlace(folder / "place")
    assert not any(is_damaged(copy) for copy in [*backups, *place.folder.glob("coeval-*.db")])
    for backup in backups:
        backup.unlink()
    survey = survey_places([place]) if place.folder.is_dir() else {}
    for lineage in list_lineages(survey):
        restored = folder / "restored" / "c.db"
        assert not restore(restored, survey, lineage).passed_over
        shutil.rmtree(restored.parent)
    return len(backups)


def check_paid_once(path: Path, stub: Stub) -> int:
    """No answer that is in the ledger was paid for again; gives how many there are."""
    store = Store(path)
    with store.read() as db:
        answers = int(calls.count_calls(db)["answered"])
        drafted = drafts.count_drafts(
            db, next(r.id for r in drafts.list_runs(db, 1) if r.label == "under fire")
        )
    store.close()
    assert answers and drafted["ok"] <= answers
    # lost are those that were under way when the process was killed: asked, or answered and not yet recorded
    assert 0 <= stub.paid - answers <= KILLS * (CONCURRENCY + CONCURRENCY // 2)
    return answers


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


def test_a_lock_that_stays_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coeval.store.engines.files.BUSY_SECONDS", 0.1)
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


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="choose another|Choose another"):
        Store(tmp_path / "file" / "c.db")


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


def test_a_folder_that_may_only_be_read_is_one_sentence(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    with without_rights(), pytest.raises(StorageError, match="cannot be opened|read-only"):
        Store(open_folder / "c.db")
    assert not list(open_folder.iterdir())


TIMES = {
    "submission": ("opened_at", "submitted_at"),
    "assignment": ("opened_at",),
    "session": ("created_at",),
    "annotator": ("created_at",),
    "draft": ("created_at",),
}


def test_a_clock_that_goes_back_loses_nothing_and_mixes_nothing_up(
    context: Context, owner: Person, study: Study
) -> None:
    """What was saved so far is of tomorrow, as it is when the clock is set a day back."""
    import_study(context, owner, study)
    step = get_step(context, owner, "demo")
    first = submit(context, owner, "demo", sent_of(step, 4))
    with context.store.write() as db:
        for table, columns in TIMES.items():
            for column in columns:
                moved = f"strftime('%Y-%m-%dT%H:%M:%fZ', {column}, '+1 day')"
                db.conn.execute(f"UPDATE {table} SET {column} = {moved} WHERE {column} IS NOT NULL")
    again = get_step(context, owner, "demo", here(step))
    sent = replace(sent_of(again, 2), opened_at=now(), active_ms=4000)
    second = submit(context, owner, "demo", sent)
    assert again.saved and second.submitted_at < again.saved.submitted_at
    assert (first.revision, second.revision) == (1, 2)
    shown = get_step(context, owner, "demo", here(step)).saved
    assert shown and (shown.revision, shown.score) == (2, 2)
    assert shown.active_ms is not None and 0 <= shown.active_ms <= 4000
    with context.store.read() as db:
        assert examine_file(db).faults == ()


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
    connection.execute("UPDATE instance SET position = position + 10")
    connection.commit()
    connection.close()
    with context.store.read() as db:
        found = examine_file(db).faults
    assert any("draft without its criterion" in fault for fault in found)
    assert any("positions have a gap" in fault for fault in found)
