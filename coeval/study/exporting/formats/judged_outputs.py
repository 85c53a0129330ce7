"""Outputs of one document with what people made of them: what pairs for training are built from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from statistics import fmean
from typing import Any

from coeval.domain import Scale
from coeval.domain.chats import is_chat, read_chat
from coeval.store import Database
from coeval.store.queries.bulk import exports
from coeval.store.queries.bulk.reports import read
from coeval.store.queries.criteria import get_criteria_set


@dataclass(slots=True)
class Judged:
    """One output by one criterion: the scores that count, a person each, and their conclusions."""

    scores: list[float] = field(default_factory=list)
    conclusions: list[str] = field(default_factory=list)

    @property
    def mean(self) -> float:
        return fmean(self.scores)


@dataclass(slots=True)
class Output:
    """One output, and what was made of it by criterion."""

    instance: str
    document: str
    system: str
    input: str
    output: str
    judged: dict[str, Judged] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgments:
    """A task's outputs that people scored by its current criteria, without checks and rejected people."""

    db: Database
    task: int

    @property
    def scales(self) -> dict[str, Scale]:
        """The scale of each current criterion, in their order."""
        current = get_criteria_set(self.db, self.task)
        return {criterion.text: criterion.scale for criterion in current.criteria} if current else {}

    def list_pairs(self) -> Iterator[tuple[Output, Output]]:
        """Every two outputs of one document and one input; one document at a time is in memory."""
        for _, rows in groupby(read(self.db, exports.JUDGED_OUTPUTS, task=self.task), lambda row: row[0]):
            for first, second in combinations(_gather(rows), 2):
                if first.input == second.input and first.output != second.output:
                    yield first, second

    def has_chats(self) -> bool:
        """Whether some text is a conversation, so that every text of a file has to be a list of messages."""
        texts = read(self.db, exports.INSTANCES, task=self.task)
        places = [texts.names.index(name) for name in ("input", "output")]
        return any(is_chat(row[place]) for row in texts for place in places)


def _gather(rows: Iterator[Sequence[Any]]) -> list[Output]:
    outputs: dict[str, Output] = {}
    for document, instance, system, given, text, criterion, score, conclusion in rows:
        output = outputs.setdefault(instance, Output(instance, document, system, given, text))
        judged = output.judged.setdefault(criterion, Judged())
        judged.scores.append(score)
        if conclusion:
            judged.conclusions.append(conclusion)
    return list(outputs.values())


def build_texts(chosen: Output, rejected: Output, as_chats: bool) -> dict[str, Any]:
    """``prompt``, ``chosen`` and ``rejected``: texts, or lists of messages, as the libraries that train read them."""
    texts = (("prompt", chosen.input, "user"), ("chosen", chosen.output, "assistant"),
             ("rejected", rejected.output, "assistant"))  # fmt: skip
    return {name: _messages(text, role) if as_chats else text for name, text, role in texts}


def _messages(text: str, role: str) -> list[dict[str, str]]:
    turns = [{"role": turn.role, "content": turn.content} for turn in read_chat(text)]
    return turns or [{"role": role, "content": text}]
