"""A judge's questions out as batch files, and the results into its ledger: for outputs that another machine judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from coeval.domain import Call, Instance, Request
from coeval.judge.artifact.schema import JudgeFile
from coeval.judge.running.asker import open_askers
from coeval.llm.running.batch_files import BatchWriter, write_batch
from coeval.llm.running.batch_results import BadLine, read_batch
from coeval.llm.running.ledger import Prices
from coeval.store import Store
from coeval.store.queries.drafting.calls import StoredLedger

AT_ONCE = 500
"""Answers recorded in one transaction."""


@dataclass(slots=True)
class Received:
    """What a file of results held."""

    answered: int = 0
    failed: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.answered:,} answers kept, {self.failed:,} failed, {len(self.bad_lines):,} lines unreadable"


def write_judge_questions(
    judge: JudgeFile, instances: Sequence[Instance], out: Path, ledger: Path
) -> BatchWriter:
    """Write the questions about these instances that the ledger has no answer from a batch to.

    Raises:
        InputError: a file of that name is there already.
    """
    return write_batch(_list_questions(judge, instances), out, ledger=StoredLedger(Store(ledger)))


def _list_questions(judge: JudgeFile, instances: Sequence[Instance]) -> Iterator[tuple[Request, int]]:
    numbers = range(1, len(judge.criteria) + 1)
    with open_askers(judge) as askers:
        for asker in askers.values():
            for place, instance in enumerate(instances, 1):
                protocol = asker.beside(instance)
                for item in protocol.group((place, number) for number in numbers):
                    yield from protocol.render_calls(item, replace(instance, id=place))


def read_judge_results(paths: Sequence[Path], ledger: Path, prices: Prices | None = None) -> Received:
    """Keep the answers of files of results in the ledger.

    Raises:
        InputError: a file cannot be opened.
    """
    received, kept = Received(), StoredLedger(Store(ledger))
    for path in paths:
        results = read_batch(path, prices=prices)
        while lines := list(islice(results, AT_ONCE)):
            calls = [line for line in lines if isinstance(line, Call)]
            kept.record_calls(calls)
            received.answered += sum(not call.error for call in calls)
            received.failed += sum(bool(call.error) for call in calls)
            received.bad_lines += [line for line in lines if isinstance(line, BadLine)]
    return received
