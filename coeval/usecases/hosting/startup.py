"""Open the live file at the start. It is opened after the previous server has stopped and in its newest
state, or not at all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from coeval.domain.studies import Restoration
from coeval.errors import InputError, StorageError
from coeval.settings import Settings, Snapshots, show_address
from coeval.store import Storage, Store, open_store
from coeval.store.engines.sqlite_file import is_damaged
from coeval.store.queries import people
from coeval.store.snapshots import restoration as lineages
from coeval.store.snapshots.folder_place import FolderPlace
from coeval.store.snapshots.places import Place, describe_holder, patiently, take_places
from coeval.store.snapshots.restoration import (
    PATIENCE,
    Survey,
    list_lineages,
    load_lineage,
    put_aside,
    restore,
    survey_places,
)
from coeval.usecases.hosting.replication import Keeper

log = logging.getLogger(__name__)

CHECKED_BYTES = 50_000_000
"""A file up to this size is checked completely at the start, in less than a second.

For a larger file, only the header and the schema are checked at the start. The first snapshot checks the
rest, and owners are told of faults.
"""


def build_places(settings: Snapshots) -> list[Place]:
    """Return the places that the settings name."""
    places: list[Place] = []
    if settings.folder:
        places.append(FolderPlace(settings.folder))
    if settings.repo:
        # importing the Hub's client takes a moment, so only servers that use it should wait
        from coeval.store.snapshots.hub_place import HubPlace

        places.append(HubPlace(settings.repo, settings.token, settings.endpoint))
    return places


def open_kept(
    settings: Settings,
    *,
    start_empty: bool = False,
    lineage: str = "",
    on_wait: Callable[[str], None] = log.warning,
    patience: float = PATIENCE,
) -> tuple[Storage, Keeper | None]:
    """Open the live file, restored from the newest good snapshot if it is missing, and start its replication.

    ``on_wait`` receives the reason for a slow start. ``start_empty`` is the owner's statement that a new
    study begins, and ``lineage`` names the study to restore from a place that holds several.

    Raises:
        StorageError: the file cannot be opened, a place cannot be read, or a place holds several lineages and
            none was chosen.
        InputError: ``start_empty`` is set but the file exists, or the database to snapshot is not a file.
    """
    if settings.server:
        return _open_server(settings, start_empty), None
    places = build_places(settings.snapshots)
    if start_empty and _holds_study(settings.db):
        raise InputError(
            f"{settings.db} already holds a study: name another file with --db to start with an empty one."
        )
    term, restored, holder = 0, None, describe_holder()
    try:
        for place in places:
            patiently(patience, place.open, create=start_empty)
        if places:
            first_survey = survey_places(places, patience)
            term = take_places(
                places,
                holder,
                lambda: [name for _, names in first_survey.values() for name in names],
                on_wait,
                patience,
            )
    except StorageError as error:
        if not start_empty:
            raise StorageError(
                f"{str(error).rstrip('.')}. CoEval does not start while it cannot read a snapshot place."
            ) from error
        on_wait(f"{error} Starting with an empty file, as requested.")
        term, places = 0, []
    try:
        restored = None if start_empty else _bring_back(settings.db, places, lineage, patience)
        if start_empty:
            put_aside(settings.db)
        store = Store(settings.db)
    except BaseException:
        for place in places:
            _release(place, term)
        raise
    _note_opening(store, settings, term, restored)
    return store, Keeper(store, places, settings.snapshots, term, holder) if places else None


def _open_server(settings: Settings, start_empty: bool) -> Storage:
    """Open a database on a server. It makes saves durable itself."""
    snapshots = settings.snapshots
    if snapshots.folder or snapshots.repo or start_empty:
        named = "--start-empty" if start_empty else "COEVAL_SNAPSHOT_DIR and COEVAL_SNAPSHOT_REPO"
        raise InputError(
            f"Snapshots are copies of a SQLite file: leave out {named} to use "
            f"{show_address(settings.server)}, and back up the database with the tools of PostgreSQL."
        )
    store = open_store(settings.server)
    _note_opening(store, settings, 0, None)
    return store


def _release(place: Place, term: int) -> None:
    try:
        place.release(term)
    except StorageError as error:
        log.warning("%s", error)


def _holds_study(path: Path) -> bool:
    """Return whether a study exists and passes the quick check at the start."""
    size = path.stat().st_size if path.exists() else 0
    return size > 0 and not is_damaged(path, whole=size <= CHECKED_BYTES)


def _bring_back(path: Path, places: Sequence[Place], chosen: str, patience: float) -> Restoration | None:
    """Restore the file if it is missing, empty, damaged, or older than another server's state."""
    survey = survey_places(places, patience)
    newest = list_lineages(survey)
    if _holds_study(path):
        mine = load_lineage(path)
        later = newest.get(mine.id) if mine else None
        if mine is None or later is None or later.term <= mine.term:
            return None
        return restore(path, survey, mine.id, patience)
    lineage = _choose_lineage(survey, chosen)
    if lineage is not None:
        return restore(path, survey, lineage, patience)
    if path.exists() and path.stat().st_size:
        raise StorageError(
            f"{path} is damaged, and there is no snapshot to restore. Restore a backup, move the file "
            "away, or start with --start-empty, which keeps it under another name."
        )
    return None


def _choose_lineage(survey: Survey, chosen: str) -> str | None:
    """Return the lineage to follow if there is no live file; None if no place has a snapshot."""
    newest = list_lineages(survey)
    if chosen and chosen not in newest:
        raise StorageError(
            f"No snapshot place holds the lineage {chosen}: correct --restore, or leave it out."
        )
    if chosen or not newest:
        return chosen or None
    if len(newest) > 1:
        lines = "; ".join(
            f"{lineage}, last saved {snapshot.taken_at}" for lineage, snapshot in newest.items()
        )
        raise StorageError(
            f"The snapshot places hold {len(newest)} studies: {lines}. Start once with "
            "--restore and the one to continue with."
        )
    return next(iter(newest))


def _note_opening(store: Storage, settings: Settings, term: int, restored: Restoration | None) -> None:
    """Record the term and the source of the file; end sessions of earlier terms or other kinds of sign-in."""
    with store.write() as db:
        if term:
            lineages.set_term(db, term)
        if restored:
            lineages.record_restoration(db, restored)
        before = lineages.set_sign_in(db, settings.sign_in)
        if restored or before not in ("", settings.sign_in):
            people.revoke_every_session(db)
