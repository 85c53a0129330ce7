"""A call ledger in memory, for tests of what stands on one."""

from __future__ import annotations

from collections.abc import Sequence

from coeval.domain import Call


class MemoryLedger:
    """Keeps calls in a list; ``commits`` holds how many came in each commit."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.commits: list[int] = []

    def get_answer(self, request_hash: str, sample: int, endpoint: str = "") -> Call | None:
        key = (request_hash, sample)
        answered = (call for call in self.calls if (call.request_hash, call.sample) == key and not call.error)
        return next((call for call in answered if endpoint in ("", call.endpoint)), None)

    def list_recent(self, model: str, endpoint: str) -> Sequence[Call]:
        alike = (call for call in reversed(self.calls) if (call.model, call.endpoint) == (model, endpoint))
        return [call for call in alike if not call.error]

    def record_calls(self, calls: Sequence[Call]) -> None:
        self.calls.extend(calls)
        self.commits.append(len(calls))

    @property
    def errors(self) -> list[str]:
        return [call.error for call in self.calls if call.error]
