"""The tables for labelling designs and the probability of each instance, and their queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coeval.clock import now
from coeval.store import Database
from coeval.store.engines.database import append_numbered, get_row, rows
from coeval.store.steps import begin_use, empty_before_use, read_steps

STEPS = read_steps(
    """
-- step labelling_designs: with which chance each instance is drawn for people, so that means can be corrected by it
-- How labels are drawn in a task. Rows are appended; the newest of a task is in force.
CREATE TABLE labelling_design (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id),
  kind TEXT NOT NULL CHECK (kind IN ('uniform', 'active', 'ended')),
  labels INTEGER NOT NULL CHECK (labels >= 0), -- how many instances are planned
  seed TEXT NOT NULL, -- the draw follows from it; it stays secret until the design has ended
  made_by TEXT NOT NULL,
  made_at TEXT NOT NULL
) STRICT;
CREATE INDEX labelling_design_task ON labelling_design(task, id);
-- The chance of each instance, and its place in everybody's queue: an even draw from 0 to 1 divided by the chance.
CREATE TABLE labelling_chance (
  design INTEGER NOT NULL REFERENCES labelling_design(id),
  instance INTEGER NOT NULL REFERENCES instance(id),
  chance REAL NOT NULL CHECK (chance > 0 AND chance <= 1),
  place REAL NOT NULL CHECK (place >= 0),
  PRIMARY KEY (design, instance)
) STRICT;
CREATE INDEX labelling_chance_instance ON labelling_chance(instance);
"""
)

ENDED = "ended"


@dataclass(frozen=True, slots=True)
class StoredDesign:
    """A stored design."""

    id: int
    kind: str
    labels: int
    seed: str
    made_by: str
    made_at: str


@empty_before_use("labelling", lambda: None)
def get_design(db: Database, task: int) -> StoredDesign | None:
    """Return the active design, or None."""
    row = get_row(db, "SELECT * FROM labelling_design WHERE task = ? ORDER BY id DESC LIMIT 1", [task])
    if row is None or row["kind"] == ENDED:
        return None
    return StoredDesign(**{name: row[name] for name in StoredDesign.__slots__})


@empty_before_use("labelling", lambda: None)
def get_last_design(db: Database, task: int) -> StoredDesign | None:
    """Return the newest design, even if it has ended, because its labels keep their probabilities."""
    sql = "SELECT * FROM labelling_design WHERE task = ? AND kind <> 'ended' ORDER BY id DESC LIMIT 1"
    row = get_row(db, sql, [task])
    return StoredDesign(**{name: row[name] for name in StoredDesign.__slots__}) if row else None


def record_design(
    db: Database, task: int, values: Mapping[str, Any], by: str, chances: Mapping[int, tuple[float, float]]
) -> int:
    """Store a design, with the probability and the place of each instance."""
    begin_use(db, "labelling")
    row = {"task": task, **values, "made_by": by, "made_at": now()}
    design = append_numbered(db, "labelling_design", row)
    db.table("labelling_chance").insert_all(
        {"design": design, "instance": instance, "chance": chance, "place": place}
        for instance, (chance, place) in chances.items()
    )
    return int(design)


def list_chances(db: Database, design: int) -> dict[str, tuple[float, float]]:
    """Return each instance's probability and place, by the instance's name in the files."""
    sql = (
        "SELECT i.external_id, c.chance, c.place FROM labelling_chance c JOIN instance i ON i.id = c.instance"
        " WHERE c.design = ? ORDER BY c.place"
    )
    return {row["external_id"]: (row["chance"], row["place"]) for row in rows(db, sql, [design])}


def list_instances(db: Database, task: int) -> dict[str, int]:
    """Return the instances of a task without attention checks, from names in the files to ids."""
    sql = (
        "SELECT id, external_id FROM instance i WHERE task = ? AND NOT EXISTS (SELECT 1 FROM answer_key k"
        " WHERE k.instance = i.id) ORDER BY position"
    )
    return {row["external_id"]: row["id"] for row in rows(db, sql, [task])}


def list_places(db: Database, design: int) -> dict[int, float]:
    sql = "SELECT instance, place FROM labelling_chance WHERE design = ?"
    return {row["instance"]: row["place"] for row in rows(db, sql, [design])}
