"""What an engine offers: the part of sqlite-utils' ``Database`` that queries use, and the transactions around it.

SQLite gives that ``Database`` itself, PostgreSQL one that answers to the same calls (``postgres.py``). Queries are
written once: ``?`` or ``:name`` for values, ON CONFLICT, RETURNING, and nothing that only one engine knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

Values = Sequence[Any] | Mapping[str, Any]
"""What stands for the ``?`` or the ``:name`` of a statement."""


class Cursor(Protocol):
    """The rows of a statement, as tuples, and how many it changed."""

    @property
    def description(self) -> Any: ...
    @property
    def rowcount(self) -> int: ...
    def fetchone(self) -> Any: ...
    def fetchmany(self, size: int, /) -> list[Any]: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection inside a transaction."""

    def execute(self, sql: str, values: Any = ..., /) -> Cursor: ...
    def executemany(self, sql: str, values: Iterable[Any], /) -> Any: ...


class Table(Protocol):
    """A table by its name."""

    @property
    def last_rowid(self) -> Any: ...
    def insert(self, values: dict[str, Any], /) -> Table: ...
    def insert_all(self, rows: Iterable[dict[str, Any]], /) -> Any: ...
    def update(self, key: Any, values: dict[str, Any] | None = ..., /) -> Any: ...
    def rows_where(
        self, where: str | None = ..., values: Any = ..., /, *, order_by: str | None = ...
    ) -> Iterator[dict[str, Any]]: ...


class Database(Protocol):
    """What a transaction works with."""

    @property
    def conn(self) -> Connection: ...
    def query(self, sql: str, values: Any = ..., /) -> Iterator[dict[str, Any]]: ...
    def table(self, name: str, /) -> Table: ...
    def table_names(self) -> list[str]: ...


class Storage(Protocol):
    """An open database."""

    read_only: bool
    guard: Callable[[], None]

    @property
    def address(self) -> str:
        """What ``open_store`` opens it by: a path, or an address with its password."""

    @property
    def shown_address(self) -> str:
        """The same without user and password, for people and logs."""

    def write(self, *, guarded: bool = True) -> AbstractContextManager[Database]:
        """A transaction that sees and changes the newest state: all of it is kept, or none.

        Writers go one after another, those of other processes and machines as well. Inside another of the same
        thread it is a part of that: undone by itself, kept only with the whole.
        """

    def read(self) -> AbstractContextManager[Database]:
        """A consistent view of what is stored now, or as one's own transaction has left it.

        Inside another of the same thread it is a part of that, and sees the same moment.
        """

    def ping(self) -> None:
        """Return at once where the database can be used by this version of CoEval.

        Raises:
            StorageError: it cannot be reached now, or a newer version has changed it.
        """

    def backup(self, target: Path) -> None:
        """Write a consistent copy as one file."""

    def close(self) -> None: ...
