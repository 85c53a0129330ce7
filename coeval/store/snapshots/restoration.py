"""Restoration: find the newest state of a lineage in all places, and rebuild the file from it.

Temporary failures of a place are retried. A file counts as damaged only if it was read twice in full and its
content does not match its name. Then the next best state is used, and the loss is recorded. The file's own
records (its lineage, its term and each restoration) are also read and written here.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from sqlite_utils import Database as SqliteDatabase

from coeval.clock import now, utc_now
from coeval.domain.studies import Restoration
from coeval.errors import StorageError
from coeval.store.engines.database import Database, get_row, insert, rows
from coeval.store.engines.sqlite_file import connect, is_damaged, translated
from coeval.store.queries.submissions import NEWEST_SAVE
from coeval.store.snapshots.changed_pages import lay_over, read_head
from coeval.store.snapshots.places import Place, Snapshot, parse_names, patiently


@dataclass(frozen=True, slots=True)
class Lineage:
    """A file's lineage, and the latest term in which a server used it."""

    id: str
    term: int


def get_lineage(db: Database) -> Lineage:
    row = get_row(db, "SELECT id, term FROM lineage")
    assert row is not None
    return Lineage(row["id"], row["term"])


def load_lineage(path: Path) -> Lineage | None:
    """Return the lineage of a file that is not open; None if the file is no study of this version.

    Raises:
        StorageError: it cannot be read.
    """
    with translated(path), closing(connect(path, read_only=True)) as connection:
        db = SqliteDatabase(connection)
        return get_lineage(db) if "lineage" in db.table_names() else None


def set_term(db: Database, term: int) -> None:
    db.conn.execute("UPDATE lineage SET term = ?", [term])


def set_sign_in(db: Database, kind: str) -> str:
    """Record the kind of sign-in. Return the previous kind, or "" for the first."""
    row = get_row(db, "SELECT sign_in FROM lineage")
    assert row is not None
    if row["sign_in"] != kind:
        db.conn.execute("UPDATE lineage SET sign_in = ?", [kind])
    return str(row["sign_in"])


def record_restoration(db: Database, restoration: Restoration) -> None:
    fields = Restoration.__slots__
    insert(db, "restoration", **{name: getattr(restoration, name) for name in fields})


def list_restorations(db: Database) -> list[Restoration]:
    """Return every restoration of this file, the latest first."""
    fields = ", ".join(Restoration.__slots__)
    return [Restoration(**row) for row in rows(db, f"SELECT {fields} FROM restoration ORDER BY id DESC")]


# Restoration: find the newest state of a lineage in all places, and rebuild the file from it.

PATIENCE = 120.0
"""Seconds to wait for a failing place."""

Survey = Mapping[str, tuple[Place, list[Snapshot]]]
"""The snapshots in each place, newest first, by the place's title."""


@dataclass(slots=True)
class Chain:
    """A full copy, and the changed pages to apply to it, in order."""

    place: Place
    whole: Snapshot
    pages: list[Snapshot] = field(default_factory=list)

    @property
    def tip(self) -> Snapshot:
        return self.pages[-1] if self.pages else self.whole


def survey_places(places: Sequence[Place], patience: float = PATIENCE) -> Survey:
    """Return the content of all places.

    Raises:
        StorageError: a place cannot be read; its content could be the newest.
    """
    return {p.title: (p, parse_names(patiently(patience, p.list_names))) for p in places}


def list_lineages(survey: Survey) -> dict[str, Snapshot]:
    """Return the newest snapshot of each lineage in all places."""
    newest: dict[str, Snapshot] = {}
    for _, snapshots in survey.values():
        for snapshot in snapshots:
            newest[snapshot.lineage] = max(snapshot, newest.get(snapshot.lineage, snapshot))
    return newest


def restore(path: Path, survey: Survey, lineage: str, patience: float = PATIENCE) -> Restoration:
    """Restore the file from the newest good state of a lineage, and keep the replaced file.

    Raises:
        StorageError: no state is good, or a place no longer answers; the file was not replaced.
    """
    partial, best = path.with_name(path.name + ".part"), path.with_name(path.name + ".best")
    path.parent.mkdir(parents=True, exist_ok=True)
    damaged: list[str] = []
    reached: Snapshot | None = None
    source = ""
    chains = list_chains(survey, lineage)
    try:
        for chain in chains:
            if reached and (chain.tip.term, chain.tip.number, chain.tip.time) <= _rank(reached):
                break
            state = _build(chain, partial, damaged, patience)
            if state and (reached is None or _rank(state) > _rank(reached)):
                os.replace(partial, best)
                reached, source = state, chain.place.title
        if reached is None:
            raise StorageError(
                f"None of the {len(chains)} whole snapshots of {lineage or 'this study'} is intact: check "
                f"{', '.join(survey)}. CoEval does not start with an empty file in this state."
            )
        aside = put_aside(path)
        os.replace(best, path)
    finally:
        partial.unlink(missing_ok=True)
        best.unlink(missing_ok=True)
    newest = chains[0].tip.taken_at if damaged else ""
    return Restoration(source, reached.name, reached.taken_at, now(), "\n".join(damaged), newest, aside)


def _rank(snapshot: Snapshot) -> tuple[int, int, str]:
    return snapshot.term, snapshot.number, snapshot.time


def list_chains(survey: Survey, lineage: str) -> list[Chain]:
    """Return every chain that leads to a state of a lineage, the newest state first."""
    chains = []
    for place, snapshots in survey.values():
        mine = sorted(snapshot for snapshot in snapshots if snapshot.lineage == lineage)
        for whole in (snapshot for snapshot in mine if snapshot.whole):
            later = [p for p in mine if not p.whole and p.term == whole.term and p.number > whole.number]
            chains.append(Chain(place, whole, later))
    return sorted(chains, key=lambda chain: (_rank(chain.tip), chain.whole), reverse=True)


def _build(chain: Chain, target: Path, damaged: list[str], patience: float) -> Snapshot | None:
    """Rebuild a state, add damaged files to the list, and return its last snapshot.

    Returns None if the full copy is damaged.
    """
    if not _fetch(chain.place, chain.whole, target, patience) or not _is_ours(target):
        _note(damaged, chain.whole.name)
        return None
    reached, submissions = chain.whole, 0
    piece = target.with_name(target.name + ".pages")
    try:
        for snapshot in chain.pages:
            if not _fetch(chain.place, snapshot, piece, patience):
                _note(damaged, snapshot.name)
                break
            head, body = read_head(piece)
            # if an answer was lost, pages were sent again and begin earlier, but are valid
            if head.after > reached.number:
                _note(damaged, f"the changes before {snapshot.name}")
                break
            lay_over(target, head, body)
            reached, submissions = snapshot, head.submissions
    finally:
        piece.unlink(missing_ok=True)
    if reached is chain.whole:
        return reached
    if not _is_ours(target):
        _note(damaged, f"the pages applied to {chain.whole.name}")
        return _build(Chain(chain.place, chain.whole), target, damaged, patience)
    held = _ask(target, NEWEST_SAVE)
    if held < submissions:
        # the result is sound, and later than the full copy alone: discarding it would lose more
        _note(damaged, f"{reached.name} (submissions {held + 1:,} to {submissions:,} are missing)")
    return reached


def _note(damaged: list[str], name: str) -> None:
    if name not in damaged:
        damaged.append(name)


def _fetch(place: Place, snapshot: Snapshot, target: Path, patience: float) -> bool:
    """Return whether the snapshot's content matches its name; it is read twice before it counts as damaged.

    Raises:
        StorageError: the place does not deliver it.
    """
    for _ in range(2):
        patiently(patience, place.get, snapshot.name, target)
        if hash_file(target) == snapshot.hash:
            return True
    return False


def hash_file(path: Path) -> str:
    """Return the first 16 hexadecimal digits of the content's SHA-256."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _is_ours(path: Path) -> bool:
    """Return whether a file is a sound database with CoEval's tables."""
    has_task = "SELECT count(*) FROM sqlite_master WHERE name = 'task'"
    return not is_damaged(path) and bool(_ask(path, has_task))


def _ask(path: Path, sql: str) -> int:
    """Return the number that a query counts in a file that is not open; the files beside it are removed."""
    connection = connect(path, read_only=True)
    try:
        return int(connection.execute(sql).fetchone()[0])
    finally:
        connection.close()
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def put_aside(path: Path) -> str:
    """Move the file and its log away, if they exist, and return the name of the kept file.

    An old log must never be applied to another file.
    """
    stamp, kept = utc_now().strftime("%Y%m%dT%H%M%S%fZ"), ""
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            aside = path.with_name(f"{path.name}.aside-{stamp}{suffix}")
            os.replace(part, aside)
            kept = kept or aside.name
    return kept
