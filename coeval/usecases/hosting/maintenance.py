"""Check, copy and move the database; remove leftover files and data."""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import count
from pathlib import Path

from coeval.clock import utc_now
from coeval.domain import Person
from coeval.errors import CoevalError, StorageError
from coeval.settings import is_server_address
from coeval.store import Storage, open_store
from coeval.store.engines.database_copy import Content, copy_rows, list_tables, measure
from coeval.store.engines.sqlite_file import is_damaged
from coeval.store.queries import people, tasks
from coeval.store.snapshots.places import KEEP_DAYS
from coeval.store.soundness import Soundness, examine_file
from coeval.store.steps import list_absent_extensions, share_use
from coeval.usecases.access import OWNERS, Context, use_case
from coeval.usecases.crowd.onboarding import delete_withdrawn
from coeval.usecases.hosting.replication import KEEPERS
from coeval.usecases.import_staging import remove_unfinished


@use_case(OWNERS)
def check_file(context: Context, person: Person) -> Soundness:
    """Return the content of the file and every fault in it."""
    with context.store.read() as db:
        return examine_file(db)


@use_case(OWNERS)
def back_up(context: Context, person: Person, target: Path) -> None:
    """Copy the database while people work.

    Raises:
        StorageError: the target already exists, or cannot be written.
    """
    if target.exists():
        raise StorageError(f"{target} exists already: choose another name for the copy.")
    context.store.backup(target)


log = logging.getLogger(__name__)

OLD_SECONDS = 24 * 60 * 60
"""The age, in seconds, at which an untouched temporary file counts as abandoned. No copy takes that long."""

EVERY_SECONDS = 60 * 60
"""Seconds between two sweeps, which also delete withdrawn work that is due."""

SWEEPS_A_CHECK = 24
"""The number of sweeps between two checks of the file for damage, which take some seconds for 100 MB."""

ASIDE = re.compile(r"\.aside-(\d{8})T\d{12}Z")
"""Matches the date of a replaced file, which is kept as long as a snapshot."""

TEMPORARY = ("coeval-snapshot-*", "coeval-import-*", "coeval-read-*")
"""The folders of this app's temporary files."""


def sweep(context: Context) -> None:
    """Remove expired data in the background, now and every hour."""
    threading.Thread(target=_sweep_hourly, args=(context,), name="sweep", daemon=True).start()


def _sweep_hourly(context: Context) -> None:
    for n in count():
        _sweep(context)
        if n % SWEEPS_A_CHECK == 0:
            with suppress(StorageError):
                check_pages(context)
        time.sleep(EVERY_SECONDS)


def check_pages(context: Context) -> None:
    """Check the SQLite file. If it is damaged, warn owners, and delete no more of its snapshots."""
    keeper = KEEPERS.get(context.store)
    if keeper is not None and is_damaged(Path(context.store.address)):
        keeper.damage = (
            f"The file {context.store.shown_address} is damaged: stop the server, and start it without the file, so "
            "that it restores the newest sound snapshot."
        )
        log.error("%s", keeper.damage)


def _sweep(context: Context) -> None:
    for remove in (remove_unfinished, delete_withdrawn):
        with suppress(CoevalError):
            remove(context)
    for path in list_leftovers(context):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()


def list_leftovers(context: Context) -> list[Path]:
    """Return unfinished copies and temporary folders that are a day old, and replaced files after thirty days."""
    live = context.settings.db
    last = (utc_now() - timedelta(days=KEEP_DAYS)).strftime("%Y%m%d")
    asides = () if context.settings.server else live.parent.glob(f"{live.name}.aside-*")
    replaced = [path for path in asides if (date := ASIDE.search(path.name)) and date[1] < last]
    return [path for path in _list_candidates(context) if _is_old(path)] + replaced


def _list_candidates(context: Context) -> Iterator[Path]:
    live, snapshots = context.settings.db, context.settings.snapshots.folder
    if not context.settings.server:
        yield live.with_name(live.name + ".part")
    if snapshots:
        yield from snapshots.glob("coeval-*.part")
    for pattern in TEMPORARY:
        yield from Path(tempfile.gettempdir()).glob(pattern)


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > OLD_SECONDS
    except OSError:
        return False


# Moving everything from one database to another: from a file to a PostgreSQL server, and back.


def transfer(source: str, target: str) -> dict[str, Content]:
    """Copy a whole database into a new one; return the number of rows by table. The source does not change.

    Every copied table is compared with the source before the copy is kept.

    Raises:
        StorageError: a database cannot be opened, the source is outdated or not sound, or the target is not
            empty. After a failure, a target that was empty is empty again.
    """
    if is_server_address(target):
        return _transfer(source, target)
    whole, partial = Path(target), Path(f"{target}.part")
    if whole.exists():
        raise StorageError(f"{target} exists already: name a new file with --to.")
    # an interrupted copy must not leave a file that looks like an empty study
    _remove(partial)
    try:
        moved = _transfer(source, str(partial))
        partial.rename(whole)
    finally:
        _remove(partial)
    return moved


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)


def _transfer(source: str, target: str) -> dict[str, Content]:
    leaving = open_store(source, read_only=True)
    try:
        _check_source(leaving)
        arriving = open_store(target)
        try:
            _check_target(arriving)
            return _copy(leaving, arriving)
        finally:
            arriving.close()
    finally:
        leaving.close()


def _check_source(store: Storage) -> None:
    with store.read() as db:
        health = examine_file(db)
        absent = list_absent_extensions(db)
    if absent:
        raise StorageError(
            f"{store.shown_address} has tables of extensions that are not installed here ({', '.join(absent)}): "
            "install them, so that their tables move too."
        )
    if health.pending:
        raise StorageError(
            f"{store.shown_address} was written by an older version of CoEval: open it once with this "
            "version (python -m coeval serve), then move it."
        )
    if not health.sound:
        raise StorageError(
            f"{store.shown_address} is damaged: {'; '.join(health.faults)}. Nothing was moved: restore "
            "a backup first."
        )


def _check_target(store: Storage) -> None:
    with store.read() as db:
        if tasks.list_tasks(db) or people.list_people(db):
            raise StorageError(f"{store.shown_address} already holds a study: name a new database with --to.")


def _copy(leaving: Storage, arriving: Storage) -> dict[str, Content]:
    with leaving.read() as source, arriving.write() as target:
        share_use(source, target)
        left = copy_rows(source, target, list_tables(source))
        arrived = {table: measure(target, table) for table in left}
        wrong = [table for table in left if left[table] != arrived[table]]
        if wrong:
            raise StorageError(
                f"The copy in {arriving.shown_address} differs from {leaving.shown_address} in "
                f"{', '.join(wrong)}, so nothing was kept: stop the app and try again."
            )
    return arrived
