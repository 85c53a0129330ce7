"""The hosts that images may come from."""

from __future__ import annotations

from coeval.clock import now
from coeval.store.engines.interface import Database
from coeval.store.engines.statements import insert


def list_image_hosts(db: Database) -> list[str]:
    """The list in force; empty where nobody made one."""
    found = list(db.query("SELECT hosts FROM image_host ORDER BY id DESC LIMIT 1"))
    return str(found[0]["hosts"]).split() if found else []


def record_image_hosts(db: Database, hosts: list[str], by: str) -> None:
    """Put another list into force; those before it stay on record."""
    insert(db, "image_host", hosts="\n".join(hosts), set_by=by, set_at=now())
