"""An old file is carried over whole: every submission with its lines, and the arm of what was opened."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database

from coeval.domain import Arm, Person
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.steps import apply_steps, list_step_names
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.steps import Where, get_step, list_history
from tests.conftest import make_study

OLD = """
INSERT INTO annotator VALUES (1, 'Olu', 'owner', 'T'), (2, 'Ana', 'annotator', 'T');
INSERT INTO task (id, slug, name, description, input_field, output_field, guidelines, scale_min, scale_max,
  origin, seed, blind_share, created_at) VALUES (1, 'demo', 'A task', '', 'In', 'Out', '', 1, 5, '', 's', 0.5, 'T');
INSERT INTO criterion VALUES (1, 1, '', 'Be true.', 'human', 1, 5);
INSERT INTO criteria_set VALUES (1, 1, 1, 'T', 'Olu');
INSERT INTO criteria_set_member VALUES (1, 1, 1);
INSERT INTO run VALUES (1, 1, 1, 'p', 'm', '', '{}', 'first', 1, 'T');
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file as the first release left it: four instances in a queue; one saved, one skipped, two untouched."""
    path = tmp_path / "old.db"
    db = Database(sqlite3.connect(path, isolation_level=None))
    apply_steps(db, list_step_names()[: list_step_names().index("m005_study_design")])
    db.conn.executescript(OLD)
    for n, instance in enumerate(make_study().instances, 1):
        db.conn.execute(
            "INSERT INTO instance VALUES (?, 1, ?, ?, '', 'a', ?, ?, '', '{}')",
            [n, n, instance.external_id, instance.input, instance.output],
        )
        db.conn.execute(
            "INSERT INTO draft VALUES (?, 1, ?, 1, 1, 'ok', 4.0, '', '', '[]', 'T')",
            [n, n],
        )
        db.conn.execute("INSERT INTO draft_row VALUES (?, ?, 0, 'score', '4')", [n, n])
        arm = "blind" if n > 2 else "assisted"
        db.conn.execute("INSERT INTO assignment VALUES (2, 1, ?, ?, ?, 'open', 0)", [n, n, arm])
    times = ("2026-01-01T10:00:00.000Z", "2026-01-01T10:01:00.000Z")
    for n, score in enumerate((2.0, 3.0), 1):
        db.conn.execute(
            "INSERT INTO submission VALUES (?, ?, 2, 1, 1, ?, 1, 'assisted', ?, 0, ?, ?, 900)",
            [n, f"uid-{n}", n, score, *times],
        )
        db.conn.execute(
            "INSERT INTO submission_row VALUES (?, 0, 1, 'score', 'revise', '', ?)", [n, f"{score:g}"]
        )
    db.conn.execute("INSERT INTO mark VALUES (1, 2, 3, 0, 1, 'unclear', ?)", [times[1]])
    db.conn.close()
    return path


def test_everything_saved_is_there_and_the_queue_goes_on(old: Path) -> None:
    context = Context(Store(old), load_settings({}, db=old))
    ana = Person("Ana", id=2)
    history = list_history(context, ana, "demo", 1, 1)
    assert [(one.revision, one.score, one.shown_score, one.planted, one.id) for one in history] == [
        (1, 2, 4, "", 1),
        (2, 3, 4, "", 2),
    ]
    assert [row.text for one in history for row in one.rows] == ["2", "3"]
    with context.store.read() as db:
        assert db.conn.execute("PRAGMA foreign_key_check").fetchall() == []
        assert db.conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        kept = db.conn.execute("SELECT arm, opened_at, skipped FROM assignment ORDER BY position").fetchall()
    # saved: its arm stays; skipped: likewise; untouched: drawn when opened
    assert kept == [
        ("assisted", "2026-01-01T10:00:00.000Z", 0),
        (None, None, 0),
        ("blind", "2026-01-01T10:01:00.000Z", 1),
        (None, None, 0),
    ]
    step = get_step(context, ana, "demo", Where(position=4))
    assert step.assignment and step.assignment.arm in (Arm.ASSISTED, Arm.BLIND)


def test_opening_the_file_again_changes_nothing(old: Path) -> None:
    for _ in range(2):
        store = Store(old)
        with store.read() as db:
            before = db.conn.execute("SELECT count(*), max(id) FROM submission").fetchone()
        store.close()
    assert before == (2, 2)


def test_the_new_tables_refuse_what_cannot_be(old: Path) -> None:
    store = Store(old)
    for wrong in (
        "UPDATE assignment SET arm = 'first', opened_at = NULL WHERE position = 1",
        "UPDATE submission SET planted = 'score', arm = 'first' WHERE id = 1",
        "UPDATE submission SET arm = 'blind' WHERE id = 1",
        "UPDATE task SET first_share = 0.6",
        "INSERT INTO planted_error (annotator, instance, criterion, draft, kind, draft_row, planted_at)"
        " VALUES (2, 1, 1, 1, 'evidence', 1, 'T')",
    ):
        with pytest.raises(sqlite3.IntegrityError), store.write() as db:
            db.conn.execute(wrong)
