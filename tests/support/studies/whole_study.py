"""Studies with rows in every table and odd texts wherever one can stand, and what two files' rows are compared by.

The rows are drawn by the schema itself, so that a table added later is filled and compared too.
"""  # fmt: skip

from __future__ import annotations

import json
import random
import re
import sqlite3
import uuid
from dataclasses import replace
from typing import Any

from coeval.domain import MAX_TEXT, ColumnRole, Instance, Standing
from coeval.extending import list_extensions
from coeval.extensions.study_files.queries_schema import STAYS, Shape, get_schema, get_schema_of
from coeval.store import Database, Store
from coeval.store.steps import begin_use
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from tests.support.studies.scored_study import scored

TEXTS = (
    "NA", "", "007", "0", "null", "1e5", " leading and trailing ", "two\nlines\r\nand\ttabs", "“quotes” \"and\" 'more'",
    "back\\slash \\n", "=1+1", "a,b;c", "👩🏽‍🔬 family 👨‍👩‍👧‍👦 and 🏳️‍🌈", "שלום, עולם ‏‎(RTL)‎", "مرحبا بالعالم",
    "e\u0301 or é", "line\u2028separator", "zero\u200bwidth", "<script>alert(1)</script>", "Ünïcödé ßẞ",
    "{\"json\": [1]}",
)  # fmt: skip
LONG = ("long ✓\n" * MAX_TEXT)[:MAX_TEXT]
"""As long as a text may be."""

IMPORTED = frozenset((
    "task", "instance", "criterion", "criteria_set", "criteria_set_member", "run", "draft", "draft_row", "quote",
    "submission", "submission_row", "import_batch", "annotator",
))  # fmt: skip
"""Tables that the import of a study fills."""

STOPPING = '{"planned":10,"scores_then":0,"system_a":"a","system_b":"b","width":0.2}'
WORDS = {
    ("column_role", "role"): [str(role) for role in ColumnRole],
    ("enrolment", "state"): [str(state) for state in Standing],
    ("job", "state"): ["done", "cancelled", "failed"],
    ("account", "kind"): ["prolific", "mturk"],
    ("account", "guest"): [1],
    ("crowd", "settings_json"): ["{}"],
    ("task_change", "stopping_json"): [STOPPING, None, None],
    ("asked_line", "request"): list(range(1, 1_000)),
    ("answer_key", "accepted_json"): ["[]", "[1.0, 2.5]"],
    ("answer_key", "must_json"): ["[]", "[1]"],
    **{(table, "score"): [1.0, 2.5, 4.0] for table in ("draft", "first_score", "submission", "adjudication")},
}
SECRET = {
    ("task", "seed"),
    ("annotator", "role"),
    ("annotator", "set_group"),
    ("account", "secret"),
    ("task", "slug"),
}
"""Columns that do not travel, or that are given anew."""


def use_every_extension(db: Database) -> None:
    """Create the tables of all extensions."""
    for extension in list_extensions():
        begin_use(db, extension.name)


def fill_study(context: Context, seed: int, slug: str = "demo") -> None:
    """A study with everything in it."""
    draw = random.Random(seed)
    study = scored([f"Ana {slug}", f"Bo {slug}"], n_documents=draw.randint(1, 3))
    study = replace(
        study,
        task=replace(
            study.task, slug=slug, description=draw.choice(TEXTS), guidelines=draw.choice((*TEXTS, LONG))
        ),
        instances=tuple(_odd(instance, draw) for instance in study.instances),
    )
    import_study(context, OPERATOR, study)
    with context.store.write() as db:
        use_every_extension(db)
        for shape in get_schema().shapes:
            if shape.name not in IMPORTED:
                for _ in range(draw.randint(1, 4)):
                    _add_row(db, shape, draw, slug)


def _odd(instance: Instance, draw: random.Random) -> Instance:
    text = lambda: draw.choice((*TEXTS, *TEXTS, LONG))  # noqa: E731
    context = {draw.choice(TEXTS[5:]) or "x": text() for _ in range(2)}
    return replace(
        instance, input=text() or "x", output=text() or "The answer", reference=text(), context=context
    )


def _add_row(db: Database, shape: Shape, draw: random.Random, slug: str) -> None:
    """One row that the schema takes; drawn again where it breaks a rule."""
    sql = db.table(shape.name).schema
    types = {column.name: (column.type, column.notnull) for column in db.table(shape.name).columns}
    for _ in range(200):
        row = {
            column: _draw_value(db, shape, column, types[column], sql, draw, slug)
            for column in shape.columns
            if column != "id"
        } | _draw_parent(db, shape, draw, slug)
        try:
            names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
            db.conn.execute(f"INSERT INTO {shape.name} ({names}) VALUES ({marks})", row)
            return
        except sqlite3.IntegrityError:
            continue


def _draw_parent(db: Database, shape: Shape, draw: random.Random, slug: str) -> dict[str, Any]:
    """The columns that name a row of another table together."""
    sql = """SELECT "table", "from", "to" FROM pragma_foreign_key_list(:name) WHERE id IN
      (SELECT id FROM pragma_foreign_key_list(:name) WHERE seq > 0)"""
    columns = db.conn.execute(sql, {"name": shape.name}).fetchall()
    if not columns:
        return {}
    parent = columns[0][0]
    rows = list(db.query(f"SELECT * FROM {parent} WHERE annotator IN ({_ids(db, 'annotator', slug)})"))
    row = draw.choice(rows)
    return {column: row[other] for _, column, other in columns}


def _ids(db: Database, table: str, slug: str) -> str:
    return ", ".join(str(row["id"]) for row in _own(db, table, slug))


def _draw_value(
    db: Database, shape: Shape, column: str, kind: tuple[str, Any], sql: str, draw: random.Random, slug: str
) -> Any:
    type_, full = kind
    parent = shape.references.get(column)
    may_lack = not full and column not in shape.key and draw.random() < 0.4
    if (shape.name, column) in WORDS:
        return draw.choice(WORDS[shape.name, column])
    if may_lack:
        return None
    if parent:
        ids = [row["id"] for row in _own(db, parent, slug)]
        return draw.choice(ids) if ids else None
    listed = re.search(rf"\b{column} IN \(([^)]*)\)", sql)
    if listed:
        return draw.choice([part.strip().strip("'") for part in listed[1].split(",")])
    if column == "uid" or column == "subject":
        return str(uuid.UUID(int=draw.getrandbits(128)))
    if column.endswith("_json"):
        return json.dumps([draw.choice(TEXTS)], ensure_ascii=False)
    if column.endswith("_at") or column in ("at", "reserved_until"):
        return f"2026-0{draw.randint(1, 9)}-11T10:{draw.randint(10, 59)}:00.{draw.randint(100, 999)}Z"
    if type_ == "INTEGER":
        return draw.choice([0, 1, 1, 2, 3, draw.randint(4, 100_000)])
    if type_ == "REAL" and column == "score":
        return draw.choice([1.0, 2.5, 4.0, 1.1 + 0.2, 4 / 3])  # on the scale, as the import demands
    if type_ == "REAL":
        return draw.choice([1.0, 2.5, 4.0, 0.1 + 0.2, 1 / 3])
    # PostgreSQL indexes no text of more than 2,704 bytes, and labels of runs are short
    return draw.choice(TEXTS if column in ("label", *shape.key) else (*TEXTS, *TEXTS, LONG))


def _own(db: Database, table: str, slug: str) -> list[dict[str, Any]]:
    """The rows of a table that may be referred to: those of this study, the last that was filled."""
    task = db.conn.execute("SELECT id FROM task WHERE slug = ?", [slug]).fetchone()[0]
    schema = get_schema()
    sql = f"SELECT id FROM {table} WHERE {schema.where[table]}"
    if table == "annotator":
        sql = f"SELECT id FROM annotator WHERE name LIKE '%{slug}'"
    return list(db.query(sql, {"task": task, "exam": task}))


Known = dict[str, int]


def list_last_ids(store: Store) -> Known:
    """The last id of every table: what came later is new."""
    with store.read() as db:
        return {
            shape.name: db.conn.execute(f"SELECT coalesce(max(rowid), 0) FROM {shape.name}").fetchone()[0]
            for shape in get_schema_of(db).shapes
        }


def snapshot(store: Store, after: Known | None = None) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table that travels, ids replaced by the place of what they name."""
    after = after or {}
    with store.read() as db:
        shapes = [shape for shape in get_schema_of(db).shapes if shape.name not in STAYS]
        read = {shape.name: _list_rows(db, shape, after.get(shape.name, 0)) for shape in shapes}
    places = {name: {row.get("id"): n for n, row in enumerate(rows)} for name, rows in read.items()}
    tables = {}
    for shape in shapes:
        tables[shape.name] = [
            {
                column: places[shape.references[column]][value]
                if column in shape.references and value is not None
                else value
                for column, value in row.items()
                if column != "id" and (shape.name, column) not in SECRET
            }
            for row in read[shape.name]
        ]
        if not shape.has_id:
            tables[shape.name].sort(key=lambda row: json.dumps(row, sort_keys=True))
    return tables


def _list_rows(db: Database, shape: Shape, after: int) -> list[dict[str, Any]]:
    if shape.has_id:
        return list(db.query(f"SELECT * FROM {shape.name} WHERE id > ? ORDER BY id", [after]))
    if not after:
        return list(db.query(f"SELECT * FROM {shape.name}"))
    return list(db.query(f"SELECT * FROM {shape.name} WHERE rowid > ?", [after]))


def list_people_groups(store: Store, after: Known | None = None) -> list[tuple[str, str]]:
    """Everybody's name and the group they count with."""
    sql = "SELECT name, group_name FROM annotator JOIN annotator_group ON annotator = id WHERE id > ? ORDER BY id"
    with store.read() as db:
        return db.conn.execute(sql, [(after or {}).get("annotator", 0)]).fetchall()
