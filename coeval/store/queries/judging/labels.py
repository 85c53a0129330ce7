"""People's scores, by the part of the seal: one read for fitting, one for the certificate.

Nothing else reads scores for judges. ``list_dev_labels`` cannot give a label of the certificate's part, since the part
is written into its query, and ``open_seal`` cannot give one unrecorded, since it records the opening first.
"""

from __future__ import annotations

import json
from typing import Any

from coeval.clock import now
from coeval.domain import Arm
from coeval.domain.seals import JudgedLine, Label, Opening, Part, Seal
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import insert, rows
from coeval.store.queries.judging.seals import DOCUMENT, list_openings
from coeval.store.queries.scrutiny.submissions import OUTCOME, published

ASKED = f"""
LEFT JOIN (SELECT {DOCUMENT} AS document, min(a.asked_at) AS asked_at FROM asked_line l JOIN asking a ON a.id = l.asking
  JOIN instance i ON i.id = l.instance WHERE a.task = :task GROUP BY 1) k ON k.document = p.document
"""
"""Since when lines of a document are asked for. What people say of it from then on is no label: it was chosen because
the judge is unsure of it, and would make the judge look worse, and what is left look better, than it is."""

LABELLED = f"""
FROM submission s
JOIN instance i ON i.id = s.instance
JOIN sealed_document p ON p.document = {DOCUMENT} AND p.seal = :seal AND p.part = :part
JOIN criteria_set_member m ON m.criterion = s.criterion AND m.criteria_set = :criteria_set
JOIN criterion c ON c.id = s.criterion
{ASKED}
WHERE i.task = :task AND (k.asked_at IS NULL OR s.submitted_at < k.asked_at)
  AND (s.planted IS NULL OR s.arm = 'first') AND {published("s")}
  AND NOT EXISTS (SELECT 1 FROM submission later WHERE later.annotator = s.annotator
    AND later.instance = s.instance AND later.criterion = s.criterion AND later.revision > s.revision
    AND (k.asked_at IS NULL OR later.submitted_at < k.asked_at) AND {published("later")})
  AND (s.annotator, s.instance) NOT IN (SELECT annotator, instance FROM uncounted WHERE task = :task)
"""
"""The submissions that count: the latest of each person, instance and criterion in one part, of those from before lines
of its document were asked for. A score that was given beside a draft made wrong on purpose is left out, unless it was
given before that draft was shown."""

LABELS = f"""
SELECT s.annotator, i.external_id AS instance, {DOCUMENT} AS document, i.system, c.text AS criterion,
  {OUTCOME} AS arm,
  CASE s.arm WHEN 'first' THEN (SELECT f.score FROM first_score f WHERE f.annotator = s.annotator
    AND f.instance = s.instance AND f.criterion = s.criterion) ELSE s.score END AS score
{LABELLED}
ORDER BY i.position, m.position, s.annotator
"""


def list_dev_labels(db: Database, task: int, criteria_set: int, seal: Seal) -> list[Label]:
    """The labels that judges may be fitted on."""
    return _list_labels(db, task, criteria_set, seal.id, Part.DEV)


def open_seal(
    db: Database, task: int, criteria_set: int, seal: Seal, judge_hash: str, by: str
) -> tuple[Opening, list[Label]]:
    """Read the certificate's labels; that it was done, for which judge and by whom stays on record for good.

    To be called in a write transaction, which then holds both the record and the reading.
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
SELECT p.part, {OUTCOME} AS arm, count(DISTINCT s.annotator) AS people, count(DISTINCT p.document) AS documents,
  count(DISTINCT s.annotator || ' ' || s.instance || ' ' || s.criterion) AS scores
FROM submission s
JOIN instance i ON i.id = s.instance
JOIN sealed_document p ON p.document = {DOCUMENT} AND p.seal = :seal
JOIN criteria_set_member m ON m.criterion = s.criterion AND m.criteria_set = :criteria_set
{ASKED}
WHERE i.task = :task AND (k.asked_at IS NULL OR s.submitted_at < k.asked_at) AND {published("s")}
GROUP BY p.part, 2
"""


def count_labels(
    db: Database, task: int, criteria_set: int, seal: Seal
) -> dict[tuple[Part, Arm], tuple[int, int, int]]:
    """How many people, documents and scores each part has by arm: numbers only, no score."""
    values = {"task": task, "criteria_set": criteria_set, "seal": seal.id}
    return {
        (Part(row["part"]), Arm(row["arm"])): (row["people"], row["documents"], row["scores"])
        for row in rows(db, COUNTS, values)
    }


JUDGED = f"""
SELECT r.label AS judge, i.external_id AS instance, c.text AS criterion, d.score, d.samples_json,
  d.probabilities_json
FROM current_draft d
JOIN run r ON r.id = d.run AND r.task = :task
JOIN instance i ON i.id = d.instance
JOIN sealed_document p ON p.document = {DOCUMENT} AND p.seal = :seal AND p.part = :part
JOIN criteria_set_member m ON m.criterion = d.criterion AND m.criteria_set = :criteria_set
JOIN criterion c ON c.id = d.criterion
ORDER BY r.id, i.position, m.position
"""


def list_judged(db: Database, task: int, criteria_set: int, seal: Seal, part: Part) -> list[JudgedLine]:
    """What judges, by the labels of their runs, scored in a part.

    No label of a person is in it, so either part may be read.
    """
    values = {"task": task, "criteria_set": criteria_set, "seal": seal.id, "part": str(part)}
    return [
        JudgedLine(
            row["judge"],
            row["instance"],
            row["criterion"],
            row["score"],
            tuple(json.loads(row["samples_json"])),
            tuple(json.loads(row["probabilities_json"])),
        )
        for row in rows(db, JUDGED, values)
    ]


def list_unscored_lines(db: Database, task: int, criteria_set: int) -> dict[tuple[str, str], tuple[int, int]]:
    """(instance, criterion) by name of what nobody has scored yet, each with its ids: whether, and no score."""
    sql = (
        "SELECT i.external_id, c.text, i.id AS instance, c.id AS criterion FROM instance i"
        " JOIN criteria_set_member m ON m.criteria_set = :criteria_set JOIN criterion c ON c.id = m.criterion"
        " WHERE i.task = :task AND NOT EXISTS (SELECT 1 FROM submission s WHERE s.instance = i.id"
        " AND s.criterion = c.id) ORDER BY i.position, m.position"
    )
    found = rows(db, sql, {"task": task, "criteria_set": criteria_set})
    return {(row["external_id"], row["text"]): (row["instance"], row["criterion"]) for row in found}
