"""Export pairs of outputs for one input with people's judgments: preference pairs, and reward-model data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from statistics import fmean
from typing import Any

from coeval.domain import Person, Scale
from coeval.domain.tasks import is_chat, read_chat
from coeval.store import Database
from coeval.store.queries import exports
from coeval.store.queries.criteria import get_criteria_set
from coeval.store.queries.reports import read
from coeval.usecases.access import Context, require_task
from coeval.usecases.out_format import Files, OutFormat


@dataclass(slots=True)
class Judged:
    """The scores that count for one output on one criterion, one per person, and their conclusions."""

    scores: list[float] = field(default_factory=list)
    conclusions: list[str] = field(default_factory=list)

    @property
    def mean(self) -> float:
        return fmean(self.scores)


@dataclass(slots=True)
class Output:
    """One output and its judgments by criterion."""

    instance: str
    document: str
    system: str
    input: str
    output: str
    judged: dict[str, Judged] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgments:
    """A task's outputs that people scored on its current criteria, without attention checks and rejected
    people.
    """

    db: Database
    task: int

    @property
    def scales(self) -> dict[str, Scale]:
        """Return the scale of each current criterion, in order."""
        current = get_criteria_set(self.db, self.task)
        return {criterion.text: criterion.scale for criterion in current.criteria} if current else {}

    def list_pairs(self) -> Iterator[tuple[Output, Output]]:
        """Yield each pair of outputs with the same document and input; only one document at a time is in memory."""
        for _, rows in groupby(read(self.db, exports.JUDGED_OUTPUTS, task=self.task), lambda row: row[0]):
            for first, second in combinations(_gather(rows), 2):
                if first.input == second.input and first.output != second.output:
                    yield first, second

    def has_chats(self) -> bool:
        """Return whether any text is a conversation; then all texts of the file become lists of messages."""
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
    """Return ``prompt``, ``chosen`` and ``rejected`` as texts or lists of messages, as training libraries
    expect them.
    """
    texts = (("prompt", chosen.input, "user"), ("chosen", chosen.output, "assistant"),
             ("rejected", rejected.output, "assistant"))  # fmt: skip
    return {name: _messages(text, role) if as_chats else text for name, text, role in texts}


def _messages(text: str, role: str) -> list[dict[str, str]]:
    turns = [{"role": turn.role, "content": turn.content} for turn in read_chat(text)]
    return turns or [{"role": role, "content": text}]


def _build_preferences(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        judgments = Judgments(db, require_task(db, slug).id)
        yield (
            "preferences.jsonl",
            (json.dumps(row, ensure_ascii=False) + "\n" for row in _preference_rows(judgments)),
        )


def _preference_rows(judgments: Judgments) -> Iterator[dict[str, Any]]:
    criteria, as_chats = judgments.scales, judgments.has_chats()
    for pair in judgments.list_pairs():
        for criterion in criteria:
            scored = [output for output in pair if criterion in output.judged]
            if len(scored) < 2 or pair[0].judged[criterion].mean == pair[1].judged[criterion].mean:
                continue
            chosen, rejected = sorted(pair, key=lambda output: -output.judged[criterion].mean)
            yield _preference_row(chosen, rejected, criterion, as_chats)


def _preference_row(chosen: Output, rejected: Output, criterion: str, as_chats: bool) -> dict[str, Any]:
    sides = (("chosen", chosen), ("rejected", rejected))
    return {
        **build_texts(chosen, rejected, as_chats),
        "criterion": criterion,
        **{f"score_{side}": output.judged[criterion].mean for side, output in sides},
        **{f"scores_{side}": output.judged[criterion].scores for side, output in sides},
        **{f"rationale_{side}": output.judged[criterion].conclusions for side, output in sides},
        **{f"system_{side}": output.system for side, output in sides},
        **{f"instance_{side}": output.instance for side, output in sides},
        "document": chosen.document,
    }


PREFERENCES = OutFormat(
    "preferences",
    "Preference pairs (JSON Lines)",
    "A line for each pair of outputs and criterion: prompt, chosen and rejected output by people's mean "
    "score, scores and conclusions. For DPO and similar methods. Ties are left out.",
    _build_preferences,
)


def _build_reward_model(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        judgments = Judgments(db, require_task(db, slug).id)
        yield (
            "reward_model.jsonl",
            (json.dumps(row, ensure_ascii=False) + "\n" for row in _reward_rows(judgments)),
        )


def _reward_rows(judgments: Judgments) -> Iterator[dict[str, Any]]:
    scales, as_chats = judgments.scales, judgments.has_chats()
    for pair in judgments.list_pairs():
        if any(scales.keys() - output.judged.keys() for output in pair):
            continue  # means over different criteria cannot be compared
        scores = {output.instance: score_whole(output, scales) for output in pair}
        chosen, rejected = sorted(pair, key=lambda output: -scores[output.instance])
        if scores[chosen.instance] == scores[rejected.instance]:
            continue
        yield _reward_row(chosen, rejected, scores, list(scales), as_chats)


def score_whole(output: Output, scales: Mapping[str, Scale]) -> float:
    """Return the mean over the criteria of people's mean scores, each rescaled to 0 to 1 by the criterion's
    scale.
    """
    return fmean(
        (output.judged[criterion].mean - scale.low) / (scale.high - scale.low)
        for criterion, scale in scales.items()
    )


def _reward_row(
    chosen: Output, rejected: Output, scores: Mapping[str, float], criteria: list[str], as_chats: bool
) -> dict[str, Any]:
    sides = (("chosen", chosen), ("rejected", rejected))
    return {
        **build_texts(chosen, rejected, as_chats),
        "margin": scores[chosen.instance] - scores[rejected.instance],
        **{f"score_{side}": scores[output.instance] for side, output in sides},
        "criteria": criteria,
        **{f"scores_{side}": [output.judged[name].mean for name in criteria] for side, output in sides},
        **{
            f"rationale_{side}": [output.judged[name].conclusions for name in criteria]
            for side, output in sides
        },
        **{f"system_{side}": output.system for side, output in sides},
        **{f"instance_{side}": output.instance for side, output in sides},
        "document": chosen.document,
    }


REWARD_MODEL = OutFormat(
    "reward-model",
    "Reward-model pairs (JSON Lines)",
    "A line for each pair of outputs with scores on every criterion: prompt, chosen, rejected, margin of the "
    "mean scores (0 to 1), scores and conclusions. Ties are left out.",
    _build_reward_model,
)
