"""What statistics rest on is read by columns: the same scores and actions as going through the rows one by one."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from coeval.domain import (
    Criterion,
    Instance,
    Person,
    Study,
    Task,
)
from coeval.store import Database
from coeval.store.engines.database import append, append_numbered, rows
from coeval.store.queries import criteria, tasks
from coeval.store.queries.criteria import get_criteria_set
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports.statistics import get_frames
from coeval.usecases.reports.task_frames import TaskFrames, read_times
from coeval.usecases.scrutiny.review import adjudicate
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study

NEVER = None
MOMENT = "2026-01-31T09:30:00.125Z"


@pytest.mark.parametrize(
    "texts",
    [
        [MOMENT, "1999-12-31T23:59:59.999Z"],
        [MOMENT, NEVER, "2024-02-29T00:00:00.000Z"],
        [NEVER, MOMENT],
        [NEVER, NEVER],
        [],
        # forms that files may bring: another zone, no fraction, a finer one
        ["2026-01-31T11:30:00.125+02:00", MOMENT],
        [NEVER, "2026-01-31T09:30:00Z", MOMENT],
        # together as long as two of the usual form
        ["2026-01-31T09:30:00.12Z", "2026-01-31T09:30:00.1255Z"],
    ],
)
def test_times_of_every_form_are_those_that_pandas_reads(texts: list[str | None]) -> None:
    expected = pd.to_datetime(pd.Series(texts, dtype=object), format="ISO8601", utc=True)
    there = expected.dt.tz_localize(None).to_numpy(dtype="datetime64[ms]")
    np.testing.assert_array_equal(read_times(tuple(texts)), there)


def test_scores_and_actions_are_those_that_count(context: Context, owner: Person, study: Study) -> None:
    """Two tasks in turns, revisions, an import on its way, planted errors, a criterion that was given up."""
    people = [sign_in(context, name)[0].id for name in ("Ana", "Ben")]
    found = [
        import_study(context, owner, replace(study, task=Task(slug, slug))) for slug in ("demo", "other")
    ]
    assert len(found) == 2
    with context.store.write() as db:
        fill(db, people, random.Random(4))
        criteria.add_criteria_set(db, 1, study.criteria[1:], "Olu")
    for slug in ("demo", "other"):
        for version in (1, None):
            with context.store.read() as db:
                check(db, slug, version)


def fill(db: Database, people: list[int], chance: random.Random) -> None:
    """Submissions of every kind, the tasks' taking turns, each of up to three revisions."""
    batch = {"slug": "demo", "imported_by": "Olu", "started_at": MOMENT}
    batches = [None, None, append_numbered(db, "import_batch", batch)]
    batches.append(append_numbered(db, "import_batch", batch | {"finished_at": MOMENT}))
    drafts = sorted(rows(db, "SELECT * FROM draft"), key=lambda draft: (draft["instance"] % 4, draft["id"]))
    for draft, person in product(drafts, people):
        key = {"annotator": person, "instance": draft["instance"], "criterion": draft["criterion"]}
        planted = {"draft": draft["id"], "score": 3.0, "planted_at": MOMENT}
        append(db, "planted_error", key | planted)
        first = {"uid": f"first {key}", "score": float(chance.randint(1, 5)), "submitted_at": MOMENT}
        append_numbered(db, "first_score", key | first)
    for revision in (1, 2, 3):
        for draft in drafts:
            for person in people:
                if chance.random() < 0.8 ** (revision - 1):
                    add_submission(db, draft, person, revision, chance.choice(batches), chance)


def add_submission(
    db: Database, draft: dict[str, Any], person: int, revision: int, batch: int | None, chance: random.Random
) -> None:
    arm = chance.choice(["assisted", "blind", "first"])
    planted = chance.choice([None, "score"]) if arm == "assisted" else None
    key = {"annotator": person, "instance": draft["instance"], "criterion": draft["criterion"]}
    drawn = {
        "draft": chance.choice([draft["id"], None]),
        "score": chance.choice([None, 1.0, 2.5, 5.0]),
        "shown_score": None if arm == "blind" else 3.0,
        "opened_at": chance.choice([None, "2026-01-31T09:29:58.125Z"]),
        "active_ms": chance.choice([None, 1500]),
    }
    about = {"uid": f"{key}-{revision}", "revision": revision, "arm": arm, "planted": planted, "bulk": 0}
    given = key | drawn | about | {"submitted_at": MOMENT, "import_batch": batch}
    submission = append_numbered(db, "submission", given)
    lines = list(rows(db, "SELECT * FROM draft_row WHERE draft = ? ORDER BY position", [draft["id"]]))
    for line in lines:
        action = chance.choice(["approve", "delete", "revise"])
        copied = {
            "position": line["position"],
            "draft_row": line["id"],
            "kind": line["kind"],
            "action": action,
        }
        append(db, "submission_row", {"submission": submission, "reason": "", "text": "", **copied})


def check(db: Database, slug: str, version: int | None) -> None:
    """What is read by columns, beside what the rows say one by one."""
    task = tasks.get_task(db, slug)
    frames = TaskFrames(task, version).get(db, ("actions",))
    latest = "SELECT s.* FROM current_submission s JOIN instance i ON i.id = s.instance AND i.task = ? ORDER BY s.id"
    texts = {row["id"]: row["text"] for row in rows(db, "SELECT id, text FROM criterion")}
    kept = [row for row in rows(db, latest, [task.id]) if texts[row["criterion"]] in frames.criteria]
    scores = frames.scores
    assert len(kept) == len(scores) > 5
    assert scores["criterion"].tolist() == [texts[row["criterion"]] for row in kept]
    arms = [outcome(row) for row in kept]
    assert scores["arm"].tolist() == arms
    assert scores["planted_error"].tolist() == [row["planted"] or "" for row in kept]
    for name, expected in {
        "score": [row["score"] for row in kept],
        "draft_score": [None if row["draft"] is None else 4.0 for row in kept],
        "first_score": [first_score(db, row) for row in kept],
        "active_seconds": [None if row["active_ms"] is None else 1.5 for row in kept],
        "wall_seconds": [None if row["opened_at"] is None else 2.0 for row in kept],
    }.items():
        np.testing.assert_array_equal(scores[name], np.array(expected, dtype=float), name)
    lines: Counter[tuple[Any, ...]] = Counter()
    for row, arm in zip(kept, arms, strict=True):
        if row["planted"] is None:
            for line in rows(db, "SELECT * FROM submission_row WHERE submission = ?", [row["id"]]):
                lines[arm, line["kind"], line["action"]] += 1
    assert {tuple(row[:-1]): row[-1] for row in frames.actions.itertuples(index=False)} == dict(lines)


def outcome(row: dict[str, Any]) -> str:
    return "undrafted" if row["draft"] is None and row["arm"] != "blind" else str(row["arm"])


OF_WHAT = "annotator = ? AND instance = ? AND criterion = ?"


def key_of(row: dict[str, Any]) -> list[int]:
    return [row["annotator"], row["instance"], row["criterion"]]


def first_score(db: Database, row: dict[str, Any]) -> float | None:
    if row["arm"] != "first":
        return None
    (found,) = rows(db, f"SELECT score FROM first_score WHERE {OF_WHAT}", key_of(row))
    return float(found["score"])


CRITERIA = ("Use simple words.", "Be true.")


def test_adjudicated_and_given_reference_scores_are_read(context: Context, owner: Person) -> None:
    """An owner's newest decision counts; a column of scores counts where its numbers are on the scale."""
    columns = {"reference score: be true.": "4"}, {"reference score: Be true.": "9"}, {"Reference score": "5"}
    instances = tuple(
        Instance(f"q{n}", f"Why {n}?", f"Because of {n}.", context=context_of)
        for n, context_of in enumerate((*columns, {}))
    )
    import_study(context, OPERATOR, Study(Task("held", "A task"), instances, tuple(map(Criterion, CRITERIA))))
    with context.store.read() as db:
        by = {one.text: one.id for one in get_criteria_set(db, 1).criteria}  # type: ignore[union-attr]
    adjudicate(context, owner, "held", "q3", by["Be true."], score=2)
    adjudicate(context, owner, "held", "q3", by["Be true."], score=3, revision=1)
    found = get_frames(context, OPERATOR, "held").references
    assert found[["instance", "criterion", "score"]].to_numpy().tolist() == [
        ["q3", "Be true.", 3.0],
        ["q0", "Be true.", 4.0],
    ]
    assert found["source"].tolist() == ["adjudicated scores", "a column of reference scores"]
    adjudicate(context, owner, "held", "q3", by["Be true."], score=5, revision=2)
    assert get_frames(context, OPERATOR, "held").references["score"].tolist() == [5.0, 4.0]
