"""The database. Only this package imports sqlite_utils and psycopg, and contains SQL.

A use case opens one transaction and calls the functions of the modules here, which take the open ``Database``
and return domain objects::

    with store.write() as db:
        tasks.add_task(db, task)

The address selects the engine: a path is a SQLite file, ``postgresql://`` a database on a PostgreSQL server.
"""

from __future__ import annotations

from pathlib import Path
from sqlite3 import IntegrityError

from coeval.errors import StorageError
from coeval.settings import is_server_address
from coeval.store.engines.database import Database, Storage
from coeval.store.engines.sqlite import Store

__all__ = ["Database", "IntegrityError", "Storage", "Store", "open_store"]


def open_store(address: str | Path, *, read_only: bool = False, aside: bool = False) -> Storage:
    """Open a database; ``read_only`` does not create or change it, ``aside`` is for readers (see ``Store``).

    Raises:
        StorageError: it cannot be opened, it is not a CoEval database, or its engine's library is not
            installed.
    """
    if not is_server_address(str(address)):
        return Store(address, read_only=read_only, aside=aside)
    try:
        from coeval.store.engines.postgres import PostgresStore
    except ImportError as error:
        raise StorageError(
            "To use PostgreSQL, install its library: pip install 'psycopg[binary,pool]>=3.2,<4' (or "
            "coeval[postgres])."
        ) from error
    return PostgresStore(str(address), read_only=read_only)
