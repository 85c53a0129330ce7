"""How a task's documents are split, which judges were fitted on it, and how often the certificate's part was opened."""

from __future__ import annotations

from collections.abc import Mapping

from coeval.clock import now
from coeval.domain.seals import FittedJudge, Opening, Part, Seal
from coeval.rules.splitting import Stratum, part_of_newcomer
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import get_row, insert, rows

DOCUMENT = "CASE WHEN i.document = '' THEN i.external_id ELSE i.document END"
"""What an instance ``i`` belongs to; without a document it stands alone."""

STRATA = f"""
SELECT {DOCUMENT} AS document, i.system,
  EXISTS (SELECT 1 FROM submission s WHERE s.instance = i.id) AS labelled,
  EXISTS (SELECT 1 FROM submission s WHERE s.instance = i.id AND s.arm <> 'assisted') AS unaided
FROM instance i WHERE i.task = ? ORDER BY i.position
"""


def list_strata(db: Database, task: int) -> dict[str, Stratum]:
    """Each document with what it is alike in: its systems, and whether anybody scored it, with or without the draft."""
    systems: dict[str, set[str]] = {}
    scored: dict[str, tuple[int, int]] = {}
    for row in rows(db, STRATA, [task]):
        systems.setdefault(row["document"], set()).add(row["system"])
        labelled, unaided = scored.get(row["document"], (0, 0))
        scored[row["document"]] = (labelled | row["labelled"], unaided | row["unaided"])
    return {name: (*map(str, scored[name]), *sorted(own)) for name, own in systems.items()}


def get_seal(db: Database, task: int) -> Seal | None:
    row = get_row(db, "SELECT * FROM seal WHERE task = ?", [task])
    return Seal(row["salt"], row["share"], row["sealed_by"], row["sealed_at"], row["id"]) if row else None


def record_seal(db: Database, task: int, seal: Seal, parts: Mapping[str, Part]) -> None:
    """Seal a task for good; a second seal breaks a rule of the table."""
    seal_id = insert(
        db, "seal", task=task, salt=seal.salt, share=seal.share, sealed_by=seal.sealed_by, sealed_at=now()
    )
    _add_parts(db, seal_id, parts)


def add_newcomers(db: Database, task: int, seal: Seal) -> None:
    """Give the documents that were imported after the sealing their part."""
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
    """How many documents each part has."""
    sql = "SELECT part, count(*) AS n FROM sealed_document WHERE seal = ? GROUP BY part"
    counted = {Part(row["part"]): row["n"] for row in rows(db, sql, [seal])}
    return {part: counted.get(part, 0) for part in Part}


def record_fitted(db: Database, seal: int, judge: FittedJudge) -> int:
    """Append a fitted judge and give its id; those before it stay."""
    return insert(
        db, "fitted_judge", seal=seal, judge_hash=judge.hash, judge_json=judge.json, fitted_by=judge.fitted_by,
        fitted_at=now(),
    )  # fmt: skip


def get_fitted(db: Database, seal: int) -> FittedJudge | None:
    """The judge that was fitted last."""
    row = get_row(db, "SELECT * FROM fitted_judge WHERE seal = ? ORDER BY id DESC LIMIT 1", [seal])
    if row is None:
        return None
    return FittedJudge(row["judge_json"], row["judge_hash"], row["fitted_by"], row["fitted_at"], row["id"])


OPENINGS = """
SELECT o.id, o.judge_hash, o.opened_by, o.opened_at, coalesce(c.certificate_json, '') AS certificate,
  coalesce(c.labels_json, '[]') AS labels
FROM seal_opening o LEFT JOIN certificate c ON c.seal_opening = o.id WHERE o.seal = ? ORDER BY o.id
"""


def list_openings(db: Database, seal: int) -> list[Opening]:
    """Every time that the certificate's labels were read, oldest first, each with what came of it."""
    return [
        Opening(
            n,
            row["judge_hash"],
            row["opened_by"],
            row["opened_at"],
            row["certificate"],
            row["labels"],
            row["id"],
        )
        for n, row in enumerate(rows(db, OPENINGS, [seal]), 1)
    ]


def record_certificate(db: Database, opening: int, certificate: str, labels: str) -> None:
    """Keep what came of an opening, and what was said of each line, as JSON."""
    insert(
        db,
        "certificate",
        seal_opening=opening,
        certificate_json=certificate,
        labels_json=labels,
        written_at=now(),
    )
