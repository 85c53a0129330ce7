"""A cache of PostgreSQL's answers.

A query costs fifty times as much as in SQLite, because it goes to another process and back. With the cache, a
confirm sends 34 statements instead of 72; without it, a confirm takes 1.7 times the processor time. There are two
caches:

- ``Recent``, of one transaction, keeps the answer to a query until the transaction writes to one of its tables.
- ``Settled``, of one server, answers queries about the set-up: tasks, criteria, teams, instances. Every transaction
  that writes to those tables stores a new mark in ``settled_mark``, and every transaction first reads the mark in its
  own view of the database. An answer is valid for its mark, so a transaction that sees another server's rows also
  sees its changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

SETTLED = frozenset(
    (
        *(
            "account",
            "answer_key",
            "asked_line",
            "asking",
            "column_role",
            "crowd",
            "enrolment",
            "image_host",
            "instance",
            "run",
        ),
        *("criteria_set", "criteria_set_member", "criterion", "criterion_guide"),
        *("task", "task_team", "task_team_member"),
    )
)
"""Tables that a save reads but does not write, except those that drafting changes every second."""

FOLLOWED = {"assignment": ("assignment", "queue_tally")}
"""Tables whose triggers write to another."""

KEPT_ROWS = 200
"""The largest number of rows of a cached answer; longer answers are rarely requested twice."""
KEPT_CHARACTERS = 20_000
"""The largest number of characters of an answer that outlives its transaction: at most 80 MB for all of them."""
RECENT = 256
"""The number of answers that a transaction keeps, because a long one reads thousands of lines, each once."""
MOST_SETTLED = 4_000
MOST_KNOWN = 2_000
"""The number of queries whose tables are cached."""

SOURCE = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)(?:\s+(?:AS\s+)?\w+)?(\s*,)?", re.IGNORECASE)
CHANGES = re.compile(r"\b(?:INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|TRUNCATE)\b", re.IGNORECASE)
TARGET = re.compile(r"\s*(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+(\w+)", re.IGNORECASE)

Key = tuple[str, tuple[Any, ...]]
Tables = frozenset[str]
UNKNOWN: Tables = frozenset({""})
"""The result for a statement whose tables are unknown."""


class Answer:
    """The rows of a query, readable like a cursor, or the number of changed rows."""

    def __init__(self, rows: Iterable[Any], description: Any, rowcount: int) -> None:
        self.description, self.rowcount = description, rowcount
        self._rows = rows
        self._left = iter(rows)

    def again(self) -> Answer:
        return Answer(self._rows, self.description, self.rowcount)

    def fetchone(self) -> Any:
        return next(self._left, None)

    def fetchmany(self, size: int, /) -> list[Any]:
        return list(islice(self._left, size))

    def fetchall(self) -> list[Any]:
        return list(self._left)

    def __iter__(self) -> Iterator[Any]:
        return self._left

    def is_short(self) -> bool:
        """Return whether the answer's texts are short enough for the cache."""
        texts = (value for row in self._rows for value in row if isinstance(value, str | bytes))
        return sum(map(len, texts)) <= KEPT_CHARACTERS


class Sources:
    """Finds the tables of a query; ``views`` has the tables and views that each view reads."""

    def __init__(self, views: Mapping[str, Iterable[str]] | None = None) -> None:
        reads = views or {}

        def find(name: str) -> Tables:
            return frozenset().union(*map(find, reads[name])) if name in reads else frozenset({name})

        self.views = {view: find(view) for view in reads}
        self._known: dict[str, Tables] = {}

    def find(self, sql: str) -> Tables:
        """Return the tables of a query, cached because a confirm stores twenty answers."""
        tables = self._known.get(sql)
        if tables is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            tables = frozenset().union(*(self.views.get(name, {name}) for name in find_sources(sql)))
            self._known[sql] = tables
        return tables


class Settled:
    """Answers that outlive their transaction, for one mark; ``sources`` finds the tables of a query."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._kept: tuple[str, dict[Key, Answer]] = ("", {})

    def under(self, mark: str) -> dict[Key, Answer]:
        """Return the answers for a mark, which its transactions share; another mark starts empty.

        A transaction that began earlier keeps the answers of its own mark, which new transactions no longer
        see.
        """
        kept = self._kept
        if kept[0] != mark or len(kept[1]) >= MOST_SETTLED:
            self._kept = kept = (mark, {})  # one assignment, because other threads read it meanwhile
        return kept[1]


class Recent:
    """The cached answers of one transaction; ``settled`` has the shared answers for its mark."""

    def __init__(self, sources: Sources | None = None, settled: dict[Key, Answer] | None = None) -> None:
        self._sources = sources or Sources()
        self._settled = settled
        self._answers: dict[Key, tuple[Answer, Tables]] = {}
        self.changed = False
        """True if the transaction has written to a settled table."""

    def get(self, key: Key) -> Answer | None:
        found = self._answers.get(key)
        if found is not None:
            return found[0].again()
        kept = self._settled.get(key) if self._settled is not None else None
        return kept.again() if kept is not None else None

    def keep(self, key: Key, answer: Answer) -> None:
        tables = self._sources.find(key[0])
        if self._settled is not None and tables <= SETTLED and answer.is_short():
            self._settled[key] = answer
            return
        if len(self._answers) == RECENT:
            del self._answers[next(iter(self._answers))]  # the oldest
        self._answers[key] = answer, tables

    def forget(self, sql: str) -> None:
        """Forget all answers that a statement may have changed."""
        if not CHANGES.search(sql):
            return
        target = find_target(sql)
        if not target:
            self._answers.clear()
            self.changed, self._settled = True, None
            return
        written = FOLLOWED.get(target, (target,))
        if not SETTLED.isdisjoint(written):
            self.changed, self._settled = True, None
        stale = [
            key
            for key, (_, tables) in self._answers.items()
            if "" in tables or not tables.isdisjoint(written)
        ]
        for key in stale:
            del self._answers[key]

    def forget_undone(self) -> None:
        """Forget all answers from a part of the transaction that was rolled back."""
        self._answers.clear()


def find_target(sql: str) -> str:
    """Return the table that a statement writes to; empty for other statements."""
    found = TARGET.match(sql)
    return found[1].lower() if found else ""


def find_sources(sql: str) -> Tables:
    """Return the tables and views that a query names, with "" if there may be others.

    >>> sorted(find_sources("SELECT 1 FROM task t JOIN run ON run.task = t.id WHERE EXISTS (SELECT 1 FROM draft d)"))
    ['draft', 'run', 'task']
    >>> "" in find_sources("SELECT 1 FROM task t, run r")
    True
    """
    found = list(SOURCE.finditer(sql))
    # the pattern does not see names after a comma or of functions
    hidden = (
        not found or any(match[2] for match in found) or "(" in {sql[m.end(1) : m.end(1) + 1] for m in found}
    )
    return frozenset(match[1].lower() for match in found) | (UNKNOWN if hidden else frozenset())
