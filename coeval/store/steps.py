"""The steps that create the schema, and the functions that run them.

``steps.sql`` has the SQL of the core's steps; the functions at the end of this module do what SQL cannot.
``schema.sql`` shows the resulting schema, and ``tests/store/test_schema.py`` compares the two. An extension
names its own steps in ``Extension.schema``; they run after the core's.
"""

from __future__ import annotations

import json
import math
import re
import secrets
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from sqlite_utils import Database as SqliteDatabase
from sqlite_utils import Migrations

from coeval.clock import now
from coeval.extending import load_named_parts
from coeval.rules.column_roles import looks_like_image

CORE = "coeval"
"""The owner of the core's steps, as databases store it."""

APPLIED = Migrations.migrations_table
"""The table of applied steps. Its name and columns are those of sqlite-utils."""

HEADING = re.compile(r"^-- step (\w+): (.+)$", re.MULTILINE)
COMMENT = re.compile(r"--[^\n]*")


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


def read_steps(text: str, functions: Mapping[str, Function] | None = None) -> list[Step]:
    """Return the steps in a text like ``steps.sql``; ``functions`` has functions by the name of their step."""
    left = dict(functions or {})
    _, *parts = HEADING.split(text)
    steps = [
        Step(name, why, sql.strip(), left.pop(name, None))
        for name, why, sql in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]
    if left:
        raise ValueError(f"There are functions without a step: {', '.join(left)}")
    return steps


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
    """Return the steps that a database lacks."""
    applied = set(_read_applied(db))
    return [step for step in list_steps() if (step.owner, step.name) not in applied]


def list_newer(db: Database) -> list[str]:
    """Return the names of steps that only a newer version of CoEval or of an extension knows."""
    known = {(step.owner, step.name) for step in list_steps()}
    owners = {owner for owner, _ in known}
    return [name for owner, name in _read_applied(db) if owner in owners and (owner, name) not in known]


def list_absent_extensions(db: Database) -> list[str]:
    """Return the extensions that have tables in a database but are not installed."""
    known = {step.owner for step in list_steps()}
    return sorted({owner for owner, _ in _read_applied(db)} - known)


def _read_applied(db: Database) -> list[tuple[str, str]]:
    if APPLIED not in db.table_names():
        return []
    return [
        (owner, name)
        for owner, name in db.conn.execute(f"SELECT migration_set, name FROM {APPLIED} ORDER BY id")
    ]


def apply_steps(db: SqliteDatabase, names: Collection[str] | None = None) -> None:
    """Run the steps that a SQLite database lacks, or the named ones among them, each in its own transaction."""
    Migrations(CORE).ensure_migrations_table(db)
    for step in list_pending(db):
        if names is None or step.name in names:
            with db.atomic():
                apply_step(db, step)


def create_database(names: Collection[str] | None = None) -> SqliteDatabase:
    """Return a new SQLite database in memory with the schema after all steps, or after the named ones."""
    db = SqliteDatabase(memory=True)
    apply_steps(db, names)
    return db


def apply_step(db: Database, step: Step) -> None:
    """Run one step in the caller's transaction and record it."""
    step.run(db)
    db.table(APPLIED).insert({"migration_set": step.owner, "name": step.name, "applied_at": now()})


# ---- m030_lineage ---------------------------------------------------------------------------------------------------


def begin_lineage(db: Database) -> None:
    """Give the file its own id."""
    db.conn.execute("INSERT INTO lineage (id, term, sign_in) VALUES (?, 0, '')", [secrets.token_hex(8)])


# ---- m045_column_role -----------------------------------------------------------------------------------------------

LOOKED_AT = 500
"""The number of instances of a task whose values the rule reads."""

_SCORE = re.compile(
    r"scores?|rat(?:ings?|ed?|ers?)|labels?|gold|grades?|rank(?:ing)?|votes?|likert|mos|elo|humans?|"
    r"annotat(?:ors?|ions?)|workers?|experts?|crowd|judges?|judge?ments?|verdict|correct(?:ness)?|"
    r"prefer(?:ence|red)|win(?:ner)?|quality|overall|accuracy|bleu|rouge|chrf|meteor|bleurt|bertscore|comet|nli"
)
_SYSTEM = re.compile(r"models?|systems?|generator|llm|checkpoint")
"""Names of columns that the rule of that version hid.

Later versions hide all columns at first, but a file from an earlier version keeps its owners' view.
"""


def guess_column_roles(db: Database) -> None:
    """Give every column of earlier tasks its effective role."""
    for task, low, high in db.conn.execute("SELECT id, scale_min, scale_max FROM task").fetchall():
        for name, values in _read_values(db, task).items():
            role = _guess_role(name, values, low, high)
            db.conn.execute(
                "INSERT INTO column_role (task, name, role, set_by, set_at) VALUES (?, ?, ?, '', ?)",
                [task, name, role, now()],
            )


def _read_values(db: Database, task: int) -> dict[str, list[str]]:
    """Return every column of a task's contexts by name, with the values of the first instances."""
    values: dict[str, list[str]] = {}
    sql = "SELECT context_json FROM instance WHERE task = ? AND context_json <> '{}' ORDER BY position"
    for (context,) in db.conn.execute(sql, [task]):
        for name, value in json.loads(context).items():
            given = values.setdefault(name, [])
            if len(given) < LOOKED_AT:
                given.append(value)
    return values


def _guess_role(name: str, values: list[str], low: int, high: int) -> str:
    words = _split_words(name)
    if any(map(_SCORE.fullmatch, words)) or any(map(_SYSTEM.fullmatch, words)):
        return "hidden"
    given = [value for value in values if value.strip()]
    if given and all(map(looks_like_image, given)):
        return "image"
    if given and all(low <= _read_number(value) <= high for value in given):
        return "hidden"
    return "shown to judge and people"


def _split_words(name: str) -> set[str]:
    """Return the words in a column's name: ``goldScore_2`` has gold and score."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return {word.rstrip("0123456789") for word in re.split(r"[\W_]+", spaced.lower())} - {""}


def _read_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


# ---- m132_earlier_groups --------------------------------------------------------------------------------------------

MADE_AT_ONCE = timedelta(minutes=1)
"""A new database applies all steps within a second; in an older one with people, days lie between them."""


def keep_earlier_groups(db: Database) -> None:
    """Set the group by the role, as before ``m070_group``, when annotators were the crowd.

    Since m070 they counted as team. The alternative annotator test then required less of a judge, and its
    conclusions changed without notice. Groups that an owner has set since then are kept.
    """
    sql = f"SELECT name, applied_at FROM {APPLIED} WHERE migration_set = '{CORE}'"
    applied = {row["name"]: _read_moment(row["applied_at"]) for row in db.query(sql)}
    grouped = applied["m070_group"]
    if grouped - applied["m001_people_and_tasks"] < MADE_AT_ONCE:
        return
    for row in list(db.query("SELECT id, role, created_at FROM annotator WHERE set_group = ''")):
        if _read_moment(row["created_at"]) < grouped:
            group = "crowd" if row["role"] == "annotator" else "expert"
            db.conn.execute("UPDATE annotator SET set_group = ? WHERE id = ?", [group, row["id"]])


def _read_moment(at: str) -> datetime:
    """Parse a stored time; earlier versions stored times without a time zone."""
    moment = datetime.fromisoformat(at)
    return moment if moment.tzinfo else datetime.fromisoformat(f"{at}+00:00")


# ---- m149_arms_in_part ----------------------------------------------------------------------------------------------

ARMS_BEFORE = "(arm IN ('assisted', 'blind', 'first'))"
ARMS_SINCE = "(arm IN ('assisted', 'blind', 'first', 'evidence', 'reasons'))"
MEASURES_BEFORE = "(measure IN ('alpha', 'difference'))"
MEASURES_SINCE = "(measure IN ('alpha', 'difference', 'pull'))"


def admit_arms(db: Database) -> None:
    """Add the new arms to the constraints of the two tables with arms."""
    for table in ("assignment", "submission"):
        _admit(db, table, "arm", ARMS_BEFORE, ARMS_SINCE)


def admit_pull(db: Database) -> None:
    """Allow stopping rules on the draft's influence."""
    _admit(db, "stopping_rule", "measure", MEASURES_BEFORE, MEASURES_SINCE)


def _admit(db: Database, table: str, column: str, before: str, since: str) -> None:
    """Replace the constraint of a column by a wider one.

    SQLite cannot change a constraint, and a copy of all submissions would take minutes. A wider constraint
    needs no check of the rows, so its text is changed in place, as SQLite's documentation of ALTER TABLE
    describes.
    """
    if not isinstance(db.conn, sqlite3.Connection):
        db.conn.execute(f"ALTER TABLE {table} DROP CONSTRAINT {table}_{column}_check")
        db.conn.execute(f"ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_check CHECK {since}")
        return
    version = db.conn.execute("PRAGMA schema_version").fetchone()[0]
    db.conn.execute("PRAGMA writable_schema = ON")
    try:
        db.conn.execute(
            "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE type = 'table' AND name = ?",
            [before, since, table],
        )
        db.conn.execute(f"PRAGMA schema_version = {version + 1}")
    finally:
        db.conn.execute("PRAGMA writable_schema = RESET")


STEPS = read_steps(
    Path(__file__).with_name("steps.sql").read_text(encoding="utf-8"),
    {
        "m030_lineage": begin_lineage,
        "m045_column_role": guess_column_roles,
        "m132_earlier_groups": keep_earlier_groups,
        "m149_arms_in_part": admit_arms,
        "m150_rule_of_pull": admit_pull,
    },
)
"""The core's steps, in order."""
