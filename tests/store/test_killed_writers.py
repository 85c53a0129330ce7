"""kill -9 under writers of every kind, of their process and of PostgreSQL itself: what was acknowledged is there once.

CI kills a few times; ``COEVAL_KILLS=40 pytest -m "" tests/store/test_killed_writers.py`` is the whole trial.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import Person, Proposal
from coeval.store import Database, Storage, Store, open_store
from coeval.store.engines.database import scalar
from coeval.store.engines.sqlite_file import connect, is_damaged
from coeval.store.queries import drafts, tasks
from coeval.store.snapshots.folder_place import FolderPlace
from coeval.store.snapshots.restoration import list_lineages, restore, survey_places
from coeval.store.soundness import examine_file
from coeval.usecases.access import Context
from coeval.usecases.criteria_rounds import open_round
from coeval.usecases.import_staging import remove_unfinished
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.hosting.fault_writer import CONCURRENCY
from tests.support.hosting.postgres import Server
from tests.support.models.openai_stub import Stub, start_stub

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("COEVAL_KILLS", "3"))

CHECKED_EVERY = 5
"""Kills between two checks of what was imported."""

KEPT = {
    "saved": "SELECT uid FROM submission WHERE uid NOT LIKE 'import-%'",
    "marked": "SELECT comment FROM mark",
    "voted": "SELECT reason FROM vote WHERE position = 1",
}
"""The keys that are stored of what people did, by what the writers print of it."""

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


def write_until_killed(
    address: str, url: str, copies: Path, seconds: float, disaster: Callable[[], None]
) -> list[tuple[str, str]]:
    """What a process that does everything at once has acknowledged; ``disaster`` befalls it before it is killed."""
    writer = subprocess.Popen(
        [sys.executable, "-m", "tests.support.hosting.fault_writer", address, url, str(copies)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    lines: list[str] = []

    def read_until_told(*kinds: str) -> None:
        told: set[str] = set()
        while not told.issuperset(kinds):
            lines.append(writer.stdout.readline())  # type: ignore[union-attr]
            assert lines[-1], "the writers ended by themselves"
            told.add(lines[-1].split()[0])

    read_until_told(*KEPT, "drafted")
    disaster()
    read_until_told(*KEPT)
    time.sleep(seconds)
    writer.send_signal(signal.SIGKILL)
    # the last line may be cut off by the kill: what was not read whole was not acknowledged
    lines += [line for line in writer.stdout if line.endswith("\n")]
    writer.wait()
    pairs = [line.split() for line in lines]
    return [(what, name) for what, name in pairs]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
def test_kill_9_under_writers_of_every_kind_loses_nothing(
    context: Context,
    owner: Person,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    """Of PostgreSQL, the database is killed as well, under the same writers."""
    import_study(context, owner, make_study(300))
    open_round(context, owner, "demo", [Proposal("Be brief."), Proposal("Be kind.")])
    address, copies, on_server = context.store.address, tmp_path / "copies", bool(context.settings.server)
    copies.mkdir()
    context.store.close()  # so that who opens the file after a kill has to recover its log

    def kill_database() -> None:
        if on_server:
            server: Server = request.getfixturevalue("postgres")
            server.kill9()
            server.start()

    moment, done, acknowledged = random.Random(7), Counter[str](), Counter[tuple[str, str]]()
    with start_stub(latency=0.02) as stub:
        for kill in range(1, KILLS + 1):
            told = write_until_killed(address, stub.url, copies, moment.uniform(0.3, 1.5), kill_database)
            done.update(what for what, _ in told)
            acknowledged.update(told)
            wait_for_rest(stub)
            done["backups"] += check_copies(copies)
            if kill % CHECKED_EVERY == 0 or kill == KILLS:
                with closing(open_store(address)) as store:
                    imported = {name for what, name in acknowledged if what == "imported"}
                    check_imports(replace(context, store=store), imported)
                    remove_imports(store)
                acknowledged = Counter({told: n for told, n in acknowledged.items() if told[0] in KEPT})
        assert done["backups"] or on_server
        with closing(open_store(address)) as store:
            check_work(store, acknowledged)
            answers = check_paid_once(store, stub, KILLS * (1 + on_server))
    with capsys.disabled():
        print(f"\n{KILLS} kills: {dict(done)}; {stub.paid} calls paid, {answers} answers in the ledger")


def wait_for_rest(stub: Stub) -> None:
    while stub.in_flight:
        time.sleep(0.01)


def check_work(store: Storage, acknowledged: Counter[tuple[str, str]]) -> None:
    """What people were told of is there, everything is there once, and every ballot is whole."""
    with store.read() as db:
        for what, sql in KEPT.items():
            kept = [key for (key,) in db.conn.execute(sql)]
            told = {name for kind, name in acknowledged if kind == what}
            assert len(kept) == len(set(kept)), f"something that was {what} is there twice"
            assert told and told <= set(kept), f"something that was acknowledged as {what} is gone"
        votes = "SELECT count(*) AS n FROM vote GROUP BY ballot, reason"
        assert {row["n"] for row in db.query(votes)} == {2}
        gaps = "SELECT annotator FROM ballot GROUP BY annotator HAVING max(revision) <> count(*)"
        assert not list(db.query(gaps))
        assert examine_file(db).faults == ()


def check_imports(context: Context, acknowledged: set[str]) -> None:
    """Every import that is seen is whole, and every acknowledged one is seen; the others leave nothing."""
    with context.store.write() as db:
        db.conn.execute("DELETE FROM lease")  # nobody is left who could renew one
    remove_unfinished(context)
    with context.store.read() as db:
        seen = {task.slug: task.id for task in tasks.list_tasks(db)}
        whole = {slug for slug, number in seen.items() if tasks.count_instances(db, number) == 600}
        assert acknowledged <= seen.keys() == whole
        for number in seen.values():
            (run,) = [run for run in drafts.list_runs(db, number) if run.label == "first"]
            assert drafts.count_drafts(db, run.id) == {"ok": 1200, "unscored": 0}
        assert imports_left(db) == (0, 0)


def remove_imports(store: Storage) -> None:
    """Take out the imports that were checked, since all copies and checks to come go through the whole file."""
    with store.write() as db:
        for table, which in OF_IMPORTS.items():
            db.conn.execute(f"DELETE FROM {table} WHERE {which}")
    if isinstance(store, Store):
        with closing(connect(store.path)) as file:
            file.execute("VACUUM")


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


def check_paid_once(store: Storage, stub: Stub, kills: int) -> int:
    """No answer that is in the ledger was paid for again; gives how many there are."""
    with store.read() as db:
        answers = int(scalar(db, "SELECT count(*) FROM call WHERE error = ''"))
        drafted = drafts.count_drafts(
            db, next(r.id for r in drafts.list_runs(db, 1) if r.label == "under fire")
        )
    assert answers and drafted["ok"] <= answers
    # lost are those that were under way when the process was killed: asked, or answered and not yet recorded
    assert 0 <= stub.paid - answers <= kills * (CONCURRENCY + CONCURRENCY // 2)
    return answers
