"""The tables of judges, the split of a task's documents, the openings of its seal, and people's scores by part.

Only this module reads scores for judges. ``list_dev_labels`` cannot return a label of the certificate's part, because
its query names the dev part. ``open_seal`` cannot return a label without a record, because it records the opening
first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from coeval.clock import now
from coeval.domain import Arm
from coeval.extensions.judge.seal_types import (
    FittedJudge,
    JudgedLine,
    Label,
    Opening,
    Part,
    Seal,
    Stratum,
    part_of_newcomer,
)
from coeval.store.engines.database import Database, get_row, insert, rows
from coeval.store.queries.submissions import OUTCOME, published
from coeval.store.steps import begin_use, empty_before_use, read_steps

STEPS = read_steps("""
-- step judge_tables: the seal of a task, the judges that were fitted, and each opening with its certificate

-- The split of a task's documents into those for fitting a judge and those for its certificate. It never changes: a
-- new split after a reading would undo the seal.
CREATE TABLE seal (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL UNIQUE REFERENCES task(id),
  salt TEXT NOT NULL, -- the salt of the hash that splits the documents, so that nobody can choose
  share REAL NOT NULL CHECK (share > 0 AND share < 1), -- the certificate's share of the documents
  sealed_by TEXT NOT NULL,
  sealed_at TEXT NOT NULL
) STRICT;

-- The part of each document; an instance without a document is stored under its own id. A document that was imported
-- after the sealing is in neither part until it is added.
CREATE TABLE sealed_document (
  seal INTEGER NOT NULL REFERENCES seal(id),
  document TEXT NOT NULL,
  part TEXT NOT NULL CHECK (part IN ('dev', 'certificate')),
  PRIMARY KEY (seal, document)
) STRICT;

-- Every judge that was fitted on the dev part. The newest is the one to certify.
CREATE TABLE fitted_judge (
  id INTEGER PRIMARY KEY,
  seal INTEGER NOT NULL REFERENCES seal(id),
  judge_hash TEXT NOT NULL,
  judge_json TEXT NOT NULL,
  fitted_by TEXT NOT NULL,
  fitted_at TEXT NOT NULL
) STRICT;
CREATE INDEX fitted_judge_newest ON fitted_judge(seal, id);

-- Each reading of the certificate's labels, written in the transaction that reads them.
CREATE TABLE seal_opening (
  id INTEGER PRIMARY KEY,
  seal INTEGER NOT NULL REFERENCES seal(id),
  judge_hash TEXT NOT NULL,
  opened_by TEXT NOT NULL,
  opened_at TEXT NOT NULL
) STRICT;
CREATE INDEX seal_opening_seal ON seal_opening(seal, id);

-- The result of an opening. In an opening without a result, the labels were read as well.
CREATE TABLE certificate (
  seal_opening INTEGER PRIMARY KEY REFERENCES seal_opening(id),
  certificate_json TEXT NOT NULL,
  written_at TEXT NOT NULL,
  -- means of people's scores by salted hashes of the outputs, as in judge.json; a gate can use them to correct its
  -- result without a second opening
  labels_json TEXT NOT NULL DEFAULT '[]'
) STRICT;

-- Each bridge from a judge to the judge with new_hash, which replaces it.
CREATE TABLE judge_bridge (
  id INTEGER PRIMARY KEY,
  seal INTEGER NOT NULL REFERENCES seal(id),
  new_hash TEXT NOT NULL,
  bridge_json TEXT NOT NULL,
  made_by TEXT NOT NULL,
  made_at TEXT NOT NULL
) STRICT;
CREATE INDEX judge_bridge_newest ON judge_bridge(seal, id);
""")


DOCUMENT = "CASE WHEN i.document = '' THEN i.external_id ELSE i.document END"
"""The document of instance ``i``. An instance without one is its own document."""

STRATA = f"""
SELECT {DOCUMENT} AS document, i.system,
  EXISTS (SELECT 1 FROM submission s WHERE s.instance = i.id) AS labelled,
  EXISTS (SELECT 1 FROM submission s WHERE s.instance = i.id AND s.arm IN ('blind', 'first')) AS unaided
FROM instance i WHERE i.task = ? ORDER BY i.position
"""


def list_strata(db: Database, task: int) -> dict[str, Stratum]:
    """Return each document with its strata: its systems, and whether people scored it with or without the draft."""
    systems: dict[str, set[str]] = {}
    scored: dict[str, tuple[int, int]] = {}
    for row in rows(db, STRATA, [task]):
        systems.setdefault(row["document"], set()).add(row["system"])
        labelled, unaided = scored.get(row["document"], (0, 0))
        scored[row["document"]] = (labelled | row["labelled"], unaided | row["unaided"])
    return {name: (*map(str, scored[name]), *sorted(system)) for name, system in systems.items()}


@empty_before_use("judge", lambda: None)
def get_seal(db: Database, task: int) -> Seal | None:
    row = get_row(db, "SELECT * FROM seal WHERE task = ?", [task])
    return Seal(row["salt"], row["share"], row["sealed_by"], row["sealed_at"], row["id"]) if row else None


def record_seal(db: Database, task: int, seal: Seal, parts: Mapping[str, Part]) -> None:
    """Seal a task permanently. A second seal would violate a constraint of the table."""
    begin_use(db, "judge")
    seal_id = insert(
        db, "seal", task=task, salt=seal.salt, share=seal.share, sealed_by=seal.sealed_by, sealed_at=now()
    )
    _add_parts(db, seal_id, parts)


def add_newcomers(db: Database, task: int, seal: Seal) -> None:
    """Assign a part to documents that were imported after sealing."""
    sql = (
        f"SELECT DISTINCT {DOCUMENT} AS document FROM instance i WHERE i.task = ? AND {DOCUMENT} NOT IN"
        " (SELECT document FROM sealed_document WHERE seal = ?)"
    )
    new = [row["document"] for row in rows(db, sql, [task, seal.id])]
    _add_parts(db, seal.id, {name: part_of_newcomer(name, seal.salt, seal.share) for name in new})


def _add_parts(db: Database, seal: int, parts: Mapping[str, Part]) -> None:
    db.conn.executemany(
        "INSERT INTO sealed_document (seal, document, part) VALUES (?, ?, ?)",
        [(seal, document, str(part)) for document, part in parts.items()],
    )


def count_parts(db: Database, seal: int) -> dict[Part, int]:
    """Return the number of documents in each part."""
    sql = "SELECT part, count(*) AS n FROM sealed_document WHERE seal = ? GROUP BY part"
    counted = {Part(row["part"]): row["n"] for row in rows(db, sql, [seal])}
    return {part: counted.get(part, 0) for part in Part}


def record_fitted(db: Database, seal: int, judge: FittedJudge) -> int:
    """Append a fitted judge and return its id. Earlier judges stay."""
    return insert(
        db, "fitted_judge", seal=seal, judge_hash=judge.hash, judge_json=judge.json, fitted_by=judge.fitted_by,
        fitted_at=now(),
    )  # fmt: skip


def list_fitted(db: Database, seal: int) -> list[FittedJudge]:
    """Return all fitted judges, oldest first."""
    return [
        FittedJudge(row["judge_json"], row["judge_hash"], row["fitted_by"], row["fitted_at"], row["id"])
        for row in rows(db, "SELECT * FROM fitted_judge WHERE seal = ? ORDER BY id", [seal])
    ]


def get_fitted(db: Database, seal: int) -> FittedJudge | None:
    """Return the newest fitted judge."""
    fitted = list_fitted(db, seal)
    return fitted[-1] if fitted else None


def record_bridge(db: Database, seal: int, new_hash: str, bridge: str, by: str) -> None:
    """Append a bridge, as JSON. Earlier bridges stay."""
    insert(db, "judge_bridge", seal=seal, new_hash=new_hash, bridge_json=bridge, made_by=by, made_at=now())


def get_bridge(db: Database, seal: int, new_hash: str = "") -> str:
    """Return the newest bridge as JSON, of those to the judge with this hash if one is given; "" if there is none."""
    sql = (
        "SELECT bridge_json FROM judge_bridge WHERE seal = :seal AND (:hash = '' OR new_hash = :hash)"
        " ORDER BY id DESC LIMIT 1"
    )
    row = get_row(db, sql, {"seal": seal, "hash": new_hash})
    return str(row["bridge_json"]) if row else ""


OPENINGS = """
SELECT o.id, o.judge_hash, o.opened_by, o.opened_at, coalesce(c.certificate_json, '') AS certificate,
  coalesce(c.labels_json, '[]') AS labels
FROM seal_opening o LEFT JOIN certificate c ON c.seal_opening = o.id WHERE o.seal = ? ORDER BY o.id
"""


def list_openings(db: Database, seal: int) -> list[Opening]:
    """Return all readings of the certificate's labels, oldest first, with their results."""
    return [Opening(n, **row) for n, row in enumerate(rows(db, OPENINGS, [seal]), 1)]


def record_certificate(db: Database, opening: int, certificate: str, labels: str) -> None:
    """Store the result of an opening, with the scores of each line, as JSON."""
    insert(
        db,
        "certificate",
        seal_opening=opening,
        certificate_json=certificate,
        labels_json=labels,
        written_at=now(),
    )


ASKED = f"""
LEFT JOIN (SELECT {DOCUMENT} AS document, min(l.asked_at) AS asked_at FROM asked_line l
  JOIN instance i ON i.id = l.instance WHERE l.task = :task GROUP BY 1) k ON k.document = p.document
"""
"""Joins the time when people were first asked for lines of a document. Their later scores are not labels: the
lines were chosen because the judge is uncertain about them, so they would make the judge look worse than it
is, and better on the rest.
"""


def before_asking(alias: str) -> str:
    """Return the SQL condition for scores from before people were asked.

    A score without a time has the time of its import.
    """
    imported = f"(SELECT b.started_at FROM import_batch b WHERE b.id = {alias}.import_batch)"
    return f"(k.asked_at IS NULL OR coalesce({alias}.submitted_at, {imported}) < k.asked_at)"


LABELLED = f"""
FROM submission s
JOIN instance i ON i.id = s.instance
JOIN sealed_document p ON p.document = {DOCUMENT} AND p.seal = :seal AND p.part = :part
JOIN criteria_set_member m ON m.criterion = +s.criterion AND m.criteria_set = :criteria_set
JOIN criterion c ON c.id = s.criterion
{ASKED}
WHERE i.task = :task AND {before_asking("s")}
  AND (s.planted IS NULL OR s.arm = 'first') AND {published("s")}
  AND NOT EXISTS (SELECT 1 FROM submission later WHERE later.annotator = s.annotator
    AND later.instance = s.instance AND later.criterion = s.criterion AND later.revision > s.revision
    AND {before_asking("later")} AND {published("later")})
  AND (s.annotator, s.instance) NOT IN (SELECT annotator, instance FROM uncounted WHERE task = :task)
"""
"""Selects the submissions that count: in one part, the latest of each person, instance and criterion from before lines
of its document were requested. A score given beside a planted error is left out, unless the person gave it before the
draft was shown.
"""

LABELS = f"""
SELECT s.annotator, i.external_id AS instance, {DOCUMENT} AS document, i.system, c.text AS criterion,
  {OUTCOME} AS arm,
  CASE s.arm WHEN 'first' THEN (SELECT f.score FROM first_score f WHERE f.annotator = s.annotator
    AND f.instance = s.instance AND f.criterion = s.criterion) ELSE s.score END AS score
{LABELLED}
ORDER BY i.position, m.position, s.annotator
"""


def list_dev_labels(db: Database, task: int, criteria_set: int, seal: Seal) -> list[Label]:
    """Return the labels for fitting judges."""
    return _list_labels(db, task, criteria_set, seal.id, Part.DEV)


def open_seal(
    db: Database, task: int, criteria_set: int, seal: Seal, judge_hash: str, by: str
) -> tuple[Opening, list[Label]]:
    """Return the certificate's labels, and record the reading permanently, with judge and person.

    Call this in a write transaction, which then includes both the record and the reading.
    """
    insert(db, "seal_opening", seal=seal.id, judge_hash=judge_hash, opened_by=by, opened_at=now())
    return list_openings(db, seal.id)[-1], _list_labels(db, task, criteria_set, seal.id, Part.CERTIFICATE)


def _list_labels(db: Database, task: int, criteria_set: int, seal: int, part: Part) -> list[Label]:
    values: dict[str, Any] = {"task": task, "criteria_set": criteria_set, "seal": seal, "part": str(part)}
    return [
        Label(
            row["annotator"], row["instance"], row["document"], row["system"], row["criterion"], row["arm"],
            float(row["score"]),
        )
        for row in rows(db, LABELS, values)
        if row["score"] is not None
    ]  # fmt: skip


COUNTS = f"""
SELECT {OUTCOME} AS arm, count(DISTINCT s.annotator) AS people, count(DISTINCT p.document) AS documents,
  count(*) AS scores
{LABELLED}
GROUP BY 1
"""


def count_labels(
    db: Database, task: int, criteria_set: int, seal: Seal
) -> dict[tuple[Part, Arm], tuple[int, int, int]]:
    """Return the number of people, documents and scores that count, by part and arm, but no score."""
    values = {"task": task, "criteria_set": criteria_set, "seal": seal.id}
    return {
        (part, Arm(row["arm"])): (row["people"], row["documents"], row["scores"])
        for part in Part
        for row in rows(db, COUNTS, values | {"part": str(part)})
    }


JUDGED = f"""
SELECT r.label AS judge, i.external_id AS instance, c.text AS criterion, d.score, d.samples_json,
  d.probabilities_json, d.rung = 'asked again' AS again
FROM current_draft d
JOIN run r ON r.id = d.run AND r.task = :task
JOIN instance i ON i.id = d.instance
JOIN sealed_document p ON p.document = {DOCUMENT} AND p.seal = :seal AND p.part = :part
JOIN criteria_set_member m ON m.criterion = +d.criterion AND m.criteria_set = :criteria_set
JOIN criterion c ON c.id = d.criterion
ORDER BY r.id, i.position, m.position
"""


def list_judged(
    db: Database, task: int, criteria_set: int, seal: Seal, part: Part, *, asked_again: bool = False
) -> list[JudgedLine]:
    """Return judges' scores in a part, by the labels of their runs, with scores from asking again only if wanted.

    The result contains no person's score, so both parts may be read.
    """
    values = {"task": task, "criteria_set": criteria_set, "seal": seal.id, "part": str(part)}
    return [
        JudgedLine(row["judge"], row["instance"], row["criterion"], None, asked_again=True)
        if row["again"] and not asked_again
        else JudgedLine(
            row["judge"],
            row["instance"],
            row["criterion"],
            row["score"],
            tuple(json.loads(row["samples_json"])),
            tuple(json.loads(row["probabilities_json"])),
            bool(row["again"]),
        )
        for row in rows(db, JUDGED, values)
    ]


def list_unscored_lines(db: Database, task: int, criteria_set: int) -> dict[tuple[str, str], tuple[int, int]]:
    """Map the (instance, criterion) names of unscored lines to their ids."""
    sql = (
        "SELECT i.external_id, c.text, i.id AS instance, c.id AS criterion FROM instance i"
        " JOIN criteria_set_member m ON m.criteria_set = :criteria_set JOIN criterion c ON c.id = m.criterion"
        " WHERE i.task = :task AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.instance = i.id"
        " AND s.criterion = c.id) ORDER BY i.position, m.position"
    )
    listed = rows(db, sql, {"task": task, "criteria_set": criteria_set})
    return {(row["external_id"], row["text"]): (row["instance"], row["criterion"]) for row in listed}


PAIRS = f"""
SELECT r.label AS run_label, c.text AS criterion, {DOCUMENT} AS document, i.external_id AS first,
  b.external_id AS second, p.preference
FROM current_comparison p
JOIN run r ON r.id = p.run AND r.task = :task
JOIN instance i ON i.id = p.first
JOIN instance b ON b.id = p.second
JOIN criterion c ON c.id = p.criterion
"""


def list_pairs(db: Database, task: int, runs: Sequence[str]) -> list[dict[str, Any]]:
    """Return the comparisons of two outputs by the runs with these labels."""
    return [row for row in rows(db, PAIRS, {"task": task}) if row["run_label"] in runs]


def mean_minutes(db: Database, task: int, criteria_set: int, seal: Seal) -> float | None:
    """Return people's mean active minutes for an output of the dev part, None if no time is recorded."""
    sql = (
        "SELECT sum(s.active_ms) AS total, count(DISTINCT s.annotator || ' ' || s.instance) AS outputs"
        f" {LABELLED} AND s.active_ms IS NOT NULL"
    )
    values = {"task": task, "criteria_set": criteria_set, "seal": seal.id, "part": str(Part.DEV)}
    row = get_row(db, sql, values)
    return row["total"] / row["outputs"] / 60_000 if row and row["outputs"] else None


REASONS = f"""
SELECT given.annotator, given.instance, given.criterion, r.reason, r.text
FROM (SELECT s.id, s.annotator, s.planted, i.external_id AS instance, c.text AS criterion {LABELLED}) given
JOIN submission_row r ON r.submission = given.id AND r.action <> 'approve'
WHERE given.planted IS NULL AND (r.reason <> '' OR (r.kind = 'conclusion' AND r.text <> ''))
ORDER BY given.id, r.position
"""
"""Selects the reasons in the submissions behind the labels, so that reason and score refer to the same draft."""


def list_dev_reasons(
    db: Database, task: int, criteria_set: int, seal: Seal
) -> dict[tuple[int, str, str], str]:
    """Return people's reasons for changes to drafts of the dev part, by annotator, instance and criterion."""
    values = {"task": task, "criteria_set": criteria_set, "seal": seal.id, "part": str(Part.DEV)}
    said: dict[tuple[int, str, str], list[str]] = {}
    for row in rows(db, REASONS, values):
        key = row["annotator"], row["instance"], row["criterion"]
        said.setdefault(key, []).append(row["reason"] or row["text"])
    return {key: " ".join(dict.fromkeys(texts)) for key, texts in said.items()}
