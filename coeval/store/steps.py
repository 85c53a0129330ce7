"""The steps that create and change the schema, and the functions that run them.

The first step is ``schema.sql``; ``steps.sql`` has the core's changes since then. An extension names its own
steps in ``Extension.schema``. They run when the extension first writes (``begin_use``), so a database has no
tables of extensions that nobody used.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from sqlite_utils import Database as SqliteDatabase
from sqlite_utils import Migrations

from coeval.clock import now
from coeval.errors import StorageError
from coeval.extending import load_named_parts

CORE = "coeval"
"""The owner of the core's steps, as databases store it."""

APPLIED = Migrations.migrations_table
"""The table of applied steps. Its name and columns are those of sqlite-utils."""

HEADING = re.compile(r"^-- step (\w+): (.+)$", re.MULTILINE)
COMMENT = re.compile(r"--[^\n]*")

DEVELOPMENT = re.compile(r"m\d{3}_\w+")
"""The names of the core's steps before the first version."""

LAST_COMMIT = "9b4c480a"
"""The last commit of CoEval that opens a database from before the first version."""


def _read_text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


class Database(Protocol):
    """The methods of a database that steps use, for either engine."""

    @property
    def conn(self) -> Any: ...
    def query(self, sql: str, values: Any = ..., /) -> Iterator[dict[str, Any]]: ...
    def table(self, name: str, /) -> Any: ...
    def table_names(self) -> list[str]: ...


Function = Callable[[Database], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One change of the schema. The function, if there is one, runs after the SQL."""

    name: str
    why: str
    sql: str = ""
    function: Function | None = None
    owner: str = CORE
    """The core, or the name of the extension that owns the step."""

    def run(self, db: Database) -> None:
        """Run the statements one by one, because ``executescript`` would commit the caller's transaction."""
        statement = ""
        for line in self.sql.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                db.conn.execute(statement)
                statement = ""
        if COMMENT.sub("", statement).strip():
            raise ValueError(f"The SQL of the step {self.name} ends within a statement")
        if self.function:
            self.function(db)


def read_steps(text: str) -> list[Step]:
    """Return the steps in a text like ``steps.sql``."""
    _, *parts = HEADING.split(text)
    return [
        Step(name, why, sql.strip())
        for name, why, sql in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def list_steps() -> list[Step]:
    """Return all steps in order: the core's, then those of each extension.

    A database whose extension is missing still opens: only unknown steps of known owners are refused.

    Raises:
        ValueError: the name of a step does not begin with its extension's name, or occurs twice.
    """
    steps = list(STEPS)
    taken = {step.name for step in steps}
    for owner, part in load_named_parts("schema"):
        for step in part:
            if not step.name.startswith(f"{owner}_") or step.name in taken:
                raise ValueError(f"The step {step.name} needs a name of its own that begins with {owner}_")
            taken.add(step.name)
            steps.append(replace(step, owner=owner))
    return steps


def list_step_names() -> list[str]:
    return [step.name for step in list_steps()]


def list_applied(db: Database) -> list[str]:
    """Return the names of a database's applied steps, in order."""
    return [name for _, name in _read_applied(db)]


def list_pending(db: Database) -> list[Step]:
    """Return the steps that a database lacks: the core's, and those of the extensions that it uses."""
    applied = set(_read_applied(db))
    users = {CORE, *(owner for owner, _ in applied)}
    return [step for step in list_steps() if step.owner in users and (step.owner, step.name) not in applied]


def is_in_use(db: Database, extension: str) -> bool:
    """Return whether a database has the tables of an extension. Without them, the extension has no data."""
    sql = f"SELECT 1 FROM {APPLIED} WHERE migration_set = ? LIMIT 1"
    return db.conn.execute(sql, [extension]).fetchone() is not None


def begin_use(db: Database, extension: str) -> None:
    """Create the tables of an extension, unless they exist. Call it in the transaction of each first write."""
    if not is_in_use(db, extension):
        for step in list_steps():
            if step.owner == extension:
                apply_step(db, step)


def share_use(source: Database, target: Database) -> None:
    """Create in ``target`` the tables of every extension that ``source`` uses, before rows are copied there."""
    for owner in sorted({owner for owner, _ in _read_applied(source)} - {CORE}):
        begin_use(target, owner)


Read = TypeVar("Read", bound=Callable[..., Any])


def empty_before_use(extension: str, empty: Callable[[], Any]) -> Callable[[Read], Read]:
    """Return a decorator for a query on an extension's tables: without the tables, it returns ``empty()``."""

    def decorate(query: Read) -> Read:
        @wraps(query)
        def read(db: Database, *args: Any, **kwargs: Any) -> Any:
            return query(db, *args, **kwargs) if is_in_use(db, extension) else empty()

        return cast(Read, read)

    return decorate


def refuse_development(names: Iterable[str], what: str) -> None:
    """Refuse a database or a study file from before the first version.

    Raises:
        StorageError: one of its steps is older than the first version.
    """
    if any(map(DEVELOPMENT.fullmatch, names)):
        raise StorageError(
            f"{what} was written by a development version of CoEval, which this version does not open. Commit "
            f"{LAST_COMMIT} is the last one that does: export the study as CSV there, and import it here."
        )


def list_newer(db: Database) -> list[str]:
    """Return the names of steps that only a newer version of CoEval or of an extension knows."""
    if APPLIED not in db.table_names():
        return []
    return [name for (name,) in db.conn.execute(f"{select_newer('name')} ORDER BY id")]


def select_newer(columns: str) -> str:
    """Return a query for columns of the applied steps that this version does not know."""
    steps = list_steps()
    owners, names = (
        ", ".join("'" + text.replace("'", "''") + "'" for text in texts)
        for texts in (dict.fromkeys(step.owner for step in steps), [step.name for step in steps])
    )
    return f"SELECT {columns} FROM {APPLIED} WHERE migration_set IN ({owners}) AND name NOT IN ({names})"


def list_absent_extensions(db: Database) -> list[str]:
    """Return the extensions that have tables in a database but are not installed."""
    owners = {step.owner for step in list_steps()}
    return sorted({owner for owner, _ in _read_applied(db)} - owners)


def _read_applied(db: Database) -> list[tuple[str, str]]:
    if APPLIED not in db.table_names():
        return []
    return [
        (owner, name)
        for owner, name in db.conn.execute(f"SELECT migration_set, name FROM {APPLIED} ORDER BY id")
    ]


def apply_steps(db: SqliteDatabase) -> None:
    """Run the steps that a SQLite database lacks, each in its own transaction."""
    Migrations(CORE).ensure_migrations_table(db)
    for step in list_pending(db):
        with db.atomic():
            apply_step(db, step)


def create_database(names: Collection[str] | None = None) -> SqliteDatabase:
    """Return a new SQLite database in memory with the schema after the named steps, or after all steps of the
    core and of every extension.
    """
    db = SqliteDatabase(memory=True)
    Migrations(CORE).ensure_migrations_table(db)
    with db.atomic():
        for step in list_steps():
            if names is None or step.name in names:
                apply_step(db, step)
    return db


def apply_step(db: Database, step: Step) -> None:
    """Run one step in the caller's transaction and record it."""
    step.run(db)
    db.table(APPLIED).insert({"migration_set": step.owner, "name": step.name, "applied_at": now()})


def begin_lineage(db: Database) -> None:
    """Give the database its own id, and its own secret."""
    db.conn.execute(
        "INSERT INTO lineage (id, term, sign_in, uid_key) VALUES (?, 0, '', ?)",
        [secrets.token_hex(8), secrets.token_hex(32)],
    )


STEPS = [
    Step("v1_schema", "The first version", _read_text("schema.sql"), begin_lineage),
    *read_steps(_read_text("steps.sql")),
]
"""The core's steps, in order."""
