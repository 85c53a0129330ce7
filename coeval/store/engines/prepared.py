"""Statements to PostgreSQL in as few steps as there are: prepared on a connection, then bound and run by libpq.

A cursor of psycopg sends, waits in Python beside other threads, and then fetches: 62 µs of processor time and 190 µs
until the answer is there, for 9 and 20 of libpq's own call. A confirm asks about thirty, one after another, and holds
the writers' lock meanwhile. Values go there and come back by psycopg's rules all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg import errors
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

from coeval.store.engines.dialect import number_places

OFTEN = 4
"""A statement is prepared when it is asked so often; most others are never asked again."""
MOST = 500
"""Prepared statements of a connection; each takes some kilobytes of the server."""

GOOD = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)
Kind = tuple[bytes, tuple[int, ...]]
Columns = tuple[tuple[str], ...]


class Statements:
    """What a connection has prepared, and running it. A connection is used by one thread at a time."""

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self._raw, self._line = raw, raw.pgconn
        self._values = Transformer(raw)
        self._asked: Counter[Kind] = Counter()
        self._names: dict[Kind, bytes] = {}
        self._columns: dict[bytes, Columns] = {}
        """Of what is prepared, whose columns stay as they are: PostgreSQL sees to that."""
        self._made = 0

    def run(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> tuple[PGresult, Columns]:
        """Run one statement of the portable subset and give what came of it, and the columns of that.

        Raises:
            psycopg.Error: it failed, or the connection has ended.
        """
        text, names = number_places(sql)
        given = [values[name] for name in names] if isinstance(values, Mapping) else list(values)
        if not given:
            result = self._check(self._line.exec_params(text, None))
            return result, name_columns(result)
        bound = self._values.dump_sequence(given, [PyFormat.AUTO] * len(given))
        kind = text, self._values.types or ()
        prepared = self._names.get(kind) or self._prepare(kind)
        if prepared:
            # as psycopg's own cursors call it, with None for NULL
            result = self._check(self._line.exec_prepared(prepared, bound, self._values.formats))  # type: ignore[arg-type]
            return result, self._columns.get(prepared) or self._columns.setdefault(
                prepared, name_columns(result)
            )
        result = self._check(self._line.exec_params(text, bound, kind[1], self._values.formats))
        return result, name_columns(result)

    def run_simple(self, sql: str) -> PGresult:
        """Run statements without values, several where semicolons part them, and give what came of the last."""
        return self._check(self._line.exec_(sql.encode()))

    def _prepare(self, kind: Kind) -> bytes:
        """The name of a statement that is asked often; empty for one that is not."""
        self._asked[kind] += 1
        if self._asked[kind] < OFTEN:
            return b""
        if len(self._names) == MOST:
            oldest = next(iter(self._names))
            dropped = self._names.pop(oldest)
            self._columns.pop(dropped, None)
            self._check(self._line.exec_(b"DEALLOCATE " + dropped))
        if len(self._asked) > 20 * MOST:
            self._asked.clear()
        self._made += 1
        name = b"coeval_%d" % self._made
        self._check(self._line.prepare(name, *kind))
        self._names[kind] = name
        return name

    def _check(self, result: PGresult) -> PGresult:
        if result.status in GOOD:
            return result
        if self._line.status == ConnStatus.BAD or not result.error_field(DiagnosticField.SQLSTATE):
            # libpq's own words: no server has answered
            raise psycopg.OperationalError(result.get_error_message())
        raise errors.error_from_result(result)

    def load(self, result: PGresult, first: int, end: int) -> list[tuple[Any, ...]]:
        """Rows of a result, from the first to before the last."""
        self._values.set_pgresult(result)
        return self._values.load_rows(first, end, tuple)


def name_columns(result: PGresult) -> Columns:
    """The columns of a result by name, as cursors give them."""
    names = (result.fname(column) or b"" for column in range(result.nfields))
    return tuple((name.decode(),) for name in names)
