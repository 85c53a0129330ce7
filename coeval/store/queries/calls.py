"""The ledger of calls to models: append-only, one paid answer per request, sample and endpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from coeval.clock import now
from coeval.domain import Call
from coeval.store.engines.database import Database, Record, Storage, get_row, outlast, rows

MAX_ANSWER = 2_000_000
"""The largest number of characters of a stored answer."""

KEPT_OF_TOO_LONG = 10_000

RECENT, LOOKED_AT = 300, 5000
"""The number of calls used to estimate a model's answers, and the number of calls searched for them."""

CALL = Record(Call, elsewhere=("id",))


def get_answer(db: Database, request_hash: str, sample: int, endpoint: str = "") -> Call | None:
    """Return the stored answer of an endpoint, if any; without an endpoint, the first stored answer."""
    sql = "SELECT * FROM call WHERE request_hash = ? AND sample = ? AND error = ''"
    values: list[str | int] = [request_hash, sample]
    if endpoint:
        sql += " AND endpoint = ?"
        values.append(endpoint)
    row = get_row(db, f"{sql} ORDER BY id LIMIT 1", values)
    return CALL.from_row(row, id=row["id"]) if row else None


def list_recent(db: Database, model: str, endpoint: str) -> list[Call]:
    """Return up to ``RECENT`` of the latest answers of a model at an endpoint, newest first.

    Only the end of the ledger is searched, because it may contain millions of calls to others.
    """
    sql = (
        "SELECT * FROM call WHERE id > (SELECT coalesce(max(id), 0) FROM call) - ? AND error = ''"
        " AND model = ? AND endpoint = ? ORDER BY id DESC LIMIT ?"
    )
    return [CALL.from_row(row, id=row["id"]) for row in rows(db, sql, [LOOKED_AT, model, endpoint, RECENT])]


def record_calls(db: Database, calls: Iterable[Call]) -> None:
    """Append answered and failed calls; existing answers do not change.

    An answer that is too long is stored as a failure, with only its beginning, because each retry would
    enlarge the file.
    """
    names = ", ".join(CALL.columns)
    marks = ", ".join(f":{name}" for name in CALL.columns)
    db.conn.executemany(
        f"INSERT INTO call ({names}) VALUES ({marks})"
        " ON CONFLICT (request_hash, sample, endpoint) WHERE error = '' DO NOTHING",
        [CALL.to_row(call) | {"created_at": call.created_at or now()} for call in map(_cut, calls)],
    )


def _cut(call: Call) -> Call:
    if len(call.response) <= MAX_ANSWER:
        return call
    said = f"The answer has {len(call.response):,} characters, more than {MAX_ANSWER:,}: it was not kept."
    return replace(call, response=call.response[:KEPT_OF_TOO_LONG], error=call.error or said)


class StoredLedger:
    """The ledger for the runner (``llm.running.ledger.Ledger``): reads never wait for writers."""

    def __init__(self, store: Storage) -> None:
        self._store = store

    def get_answer(self, request_hash: str, sample: int, endpoint: str = "") -> Call | None:
        def read() -> Call | None:
            with self._store.read() as db:
                return get_answer(db, request_hash, sample, endpoint)

        return outlast(read)

    def list_recent(self, model: str, endpoint: str) -> list[Call]:
        with self._store.read() as db:
            return list_recent(db, model, endpoint)

    def record_calls(self, calls: Sequence[Call]) -> None:
        """Append calls, and wait for the database as long as necessary, because the calls are paid for."""

        def write() -> None:
            with self._store.write() as db:
                record_calls(db, calls)

        outlast(write)
