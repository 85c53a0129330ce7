"""Which engine an address asks for: a path is a SQLite file, ``postgresql://`` a database of a PostgreSQL server."""

from __future__ import annotations

from pathlib import Path

from coeval.errors import StorageError
from coeval.settings import is_server_address
from coeval.store.engines.interface import Storage
from coeval.store.engines.sqlite import Store


def open_store(address: str | Path, *, read_only: bool = False) -> Storage:
    """Open a database; ``read_only`` makes and changes none.

    Raises:
        StorageError: it cannot be opened, it is not ours, or the library for its engine is not installed.
    """
    if not is_server_address(str(address)):
        return Store(address, read_only=read_only)
    try:
        from coeval.store.engines.postgres import PostgresStore
    except ImportError as error:
        raise StorageError(
            "For PostgreSQL install its library: pip install 'psycopg[binary,pool]>=3.2,<4' (or coeval[postgres])."
        ) from error
    return PostgresStore(str(address), read_only=read_only)
