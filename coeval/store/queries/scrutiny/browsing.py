"""Instances as an owner looks through them: what is drafted, who judged, what was flagged and said."""

from __future__ import annotations

from coeval.domain import InstanceState, Only, Remark
from coeval.store.engines.interface import Database

START = 200
"""Characters of an input and an output that a list shows."""

_CONDITIONS = {
    Only.ALL: "1 = 1",
    Only.UNSCORED: "x.n_unscored > 0",
    Only.FLAGGED: "x.n_flagged > 0 OR x.n_comments > 0",
    Only.DIFFERING: "x.apart > 0",
    Only.UNTOUCHED: "x.n_people = 0",
}

_DRAFTS = "SELECT count(*) FROM current_draft d WHERE d.run = :run AND d.instance = i.id AND d.status = "
_LATEST = (
    "SELECT m.* FROM mark m WHERE NOT EXISTS (SELECT 1 FROM mark later WHERE later.annotator = m.annotator"
    " AND later.instance = m.instance AND later.id > m.id)"
)
_STATES = f"""
SELECT i.position, i.external_id, i.document, i.system, substr(i.input, 1, {START}) AS input,
  substr(i.output, 1, {START}) AS output, ({_DRAFTS} 'ok') AS n_drafts, ({_DRAFTS} 'unscored') AS n_unscored,
  (SELECT count(DISTINCT s.annotator) FROM current_submission s WHERE s.instance = i.id) AS n_people,
  (SELECT count(*) FROM assignment a WHERE a.instance = i.id AND a.flagged = 1) AS n_flagged,
  (SELECT count(*) FROM ({_LATEST}) m WHERE m.instance = i.id AND m.comment <> '') AS n_comments,
  (SELECT max(w.apart) FROM (SELECT max(s.score) - min(s.score) AS apart FROM current_submission s
    WHERE s.instance = i.id AND s.score IS NOT NULL GROUP BY s.criterion HAVING count(*) > 1) w) AS apart
FROM instance i
WHERE i.task = :task AND (:system = '' OR i.system = :system)
  AND (:search = '' OR lower(i.external_id) LIKE lower(:pattern) ESCAPE '!'
    OR lower(i.input) LIKE lower(:pattern) ESCAPE '!' OR lower(i.output) LIKE lower(:pattern) ESCAPE '!')
"""


def list_states(
    db: Database, task: int, run: int | None, *, search: str, system: str, only: Only, limit: int
) -> list[InstanceState]:
    """The first instances of a task, in its order, that hold the words, are of the system and meet the condition."""
    escaped = search.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    states = db.query(
        f"SELECT * FROM ({_STATES}) x WHERE {_CONDITIONS[only]} ORDER BY x.position LIMIT :limit",
        {
            "task": task,
            "run": run,
            "search": search,
            "pattern": f"%{escaped}%",
            "system": system,
            "limit": limit,
        },
    )
    return [InstanceState(**{name: row[name] for name in InstanceState.__slots__}) for row in states]


def list_systems(db: Database, task: int) -> list[str]:
    """Who wrote a task's outputs, by name; without a name they are left out."""
    sql = "SELECT DISTINCT system FROM instance WHERE task = ? AND system <> '' ORDER BY system"
    return [row["system"] for row in db.query(sql, [task])]


def list_remarks(db: Database, instance: int) -> list[Remark]:
    """What people said of an instance, the latest of each, in the order of saying."""
    remarks = db.query(
        f"SELECT p.name, m.flagged, m.skipped, m.comment, m.marked_at FROM ({_LATEST}) m"
        " JOIN annotator p ON p.id = m.annotator WHERE m.instance = ?"
        " AND (m.flagged = 1 OR m.skipped = 1 OR m.comment <> '') ORDER BY m.id",
        [instance],
    )
    return [
        Remark(row["name"], bool(row["flagged"]), bool(row["skipped"]), row["comment"], row["marked_at"])
        for row in remarks
    ]
