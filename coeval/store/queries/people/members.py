"""What owners decide about people besides their role: the group they count in, and whether they can sign in."""

from __future__ import annotations

from coeval.clock import now
from coeval.domain import Group, Member
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import insert, rows, scalar
from coeval.store.queries.people.people import person_of

MEMBERS = """
SELECT a.*, g.group_name, coalesce(d.disabled_at, '') AS disabled_at
FROM annotator a
JOIN annotator_group g ON g.annotator = a.id
LEFT JOIN disabling d ON d.annotator = a.id AND d.enabled_at IS NULL
ORDER BY a.id
"""


def list_members(db: Database) -> list[Member]:
    return [Member(person_of(row), Group(row["group_name"]), row["disabled_at"]) for row in rows(db, MEMBERS)]


def list_groups(db: Database) -> dict[int, str]:
    """The group of each person, by their ids."""
    return {row["annotator"]: row["group_name"] for row in rows(db, "SELECT * FROM annotator_group")}


def set_group(db: Database, person: int, group: Group) -> None:
    db.table("annotator").update(person, {"set_group": group})


def is_disabled(db: Database, person: int) -> bool:
    sql = "SELECT count(*) FROM disabling WHERE annotator = ? AND enabled_at IS NULL"
    return bool(scalar(db, sql, [person]))


def disable(db: Database, person: int, by: str) -> None:
    """Keep a person who can sign in from doing so."""
    insert(db, "disabling", annotator=person, disabled_at=now(), disabled_by=by)


def enable(db: Database, person: int, by: str) -> None:
    db.conn.execute(
        "UPDATE disabling SET enabled_at = ?, enabled_by = ? WHERE annotator = ? AND enabled_at IS NULL",
        [now(), by, person],
    )
