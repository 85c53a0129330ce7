"""The ledger of calls to models: append-only, one paid answer per question and sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlite_utils import Database

from coeval.clock import now
from coeval.domain import Call
from coeval.store import Store
from coeval.store.engines.statements import one

COLUMNS = (
    "request_hash", "sample", "model", "endpoint", "request", "response", "prompt_tokens",
    "completion_tokens", "cost", "latency_ms", "error", "created_at",
)  # fmt: skip


def _call(row: dict[str, Any]) -> Call:
    return Call(**row)


def get_answer(db: Database, request_hash: str, sample: int) -> Call | None:
    """The answer already paid for, if there is one."""
    sql = "SELECT * FROM call WHERE request_hash = ? AND sample = ? AND error = ''"
    row = one(db, sql, [request_hash, sample])
    return _call(row) if row else None


def record_calls(db: Database, calls: Iterable[Call]) -> None:
    """Append calls, answered and failed; an answer that is there already is kept as it is."""
    names = ", ".join(COLUMNS)
    marks = ", ".join("?" * len(COLUMNS))
    db.conn.executemany(
        f"INSERT INTO call ({names}) VALUES ({marks})"
        " ON CONFLICT (request_hash, sample) WHERE error = '' DO NOTHING",
        [tuple(getattr(call, name) or (now() if name == "created_at" else getattr(call, name))
               for name in COLUMNS) for call in calls],
    )  # fmt: skip


def count_calls(db: Database) -> dict[str, float]:
    """Totals of the ledger: answered, failed, tokens and cost."""
    row = one(
        db,
        "SELECT coalesce(sum(error = ''), 0) AS answered, coalesce(sum(error <> ''), 0) AS failed,"
        " coalesce(sum(prompt_tokens), 0) AS prompt_tokens,"
        " coalesce(sum(completion_tokens), 0) AS completion_tokens,"
        " coalesce(sum(cost), 0) AS cost FROM call",
    )
    assert row is not None
    return row


class StoredLedger:
    """The ledger as the runner wants it (``llm.ledger.Ledger``): reads never wait for writers."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_answer(self, request_hash: str, sample: int) -> Call | None:
        with self._store.read() as db:
            return get_answer(db, request_hash, sample)

    def record_calls(self, calls: Sequence[Call]) -> None:
        with self._store.write() as db:
            record_calls(db, calls)
