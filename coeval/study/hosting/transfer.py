"""Moving everything from one database to another: from a file to a server of PostgreSQL, and back."""

from __future__ import annotations

from pathlib import Path

from coeval.errors import StorageError
from coeval.settings import is_server_address
from coeval.store import Storage, open_store
from coeval.store.engines.copying import Content, copy_rows, list_tables, measure
from coeval.store.queries import tasks
from coeval.store.queries.people import people
from coeval.store.soundness import examine_file


def transfer(source: str, target: str) -> dict[str, Content]:
    """Copy all that a database holds into a new one; gives what arrived, by table. The source stays as it is.

    Every table is read again where it arrived, and compared with what left, before anything is kept.

    Raises:
        StorageError: one of them cannot be opened, the source is of an older version or not sound, or the target holds
            something already; the target is then left empty.
    """
    if not is_server_address(target) and Path(target).exists():
        raise StorageError(f"{target} exists already: name a new file with --to.")
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
    if health.pending:
        raise StorageError(
            f"{store.shown_address} is of an older version of CoEval: open it once with this one, as by “python -m "
            "coeval serve”, and move it then."
        )
    if not health.sound:
        raise StorageError(
            f"{store.shown_address} is not sound: {'; '.join(health.faults)}. Nothing was moved."
        )


def _check_target(store: Storage) -> None:
    with store.read() as db:
        if tasks.list_tasks(db) or people.list_people(db):
            raise StorageError(f"{store.shown_address} holds a study already: name a new database with --to.")


def _copy(leaving: Storage, arriving: Storage) -> dict[str, Content]:
    with leaving.read() as source, arriving.write() as target:
        left = copy_rows(source, target, list_tables())
        arrived = {table: measure(target, table) for table in left}
        wrong = [table for table in left if left[table] != arrived[table]]
        if wrong:
            raise StorageError(
                f"What arrived in {arriving.shown_address} is not what left {leaving.shown_address}, in "
                f"{', '.join(wrong)}: nothing was kept."
            )
    return arrived
