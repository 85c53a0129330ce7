"""The database: the only importer of sqlite_utils and psycopg, and the only home of SQL.

A use case opens one transaction and calls the functions of the modules here, which take the open
``Database`` and give domain objects::

    with store.write() as db:
        tasks.add_task(db, task)
"""

from sqlite3 import IntegrityError

from coeval.store.addresses import open_store
from coeval.store.engines.interface import Database, Storage
from coeval.store.engines.sqlite import Store

__all__ = ["Database", "IntegrityError", "Storage", "Store", "open_store"]
