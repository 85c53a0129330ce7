"""Data for a reward model: two outputs of one input, the better by all criteria together, and by how much."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from coeval.domain import Person, Scale
from coeval.study.access import Context, require_task
from coeval.study.exporting.formats.format import Files, OutFormat
from coeval.study.exporting.formats.judged_outputs import Judgments, Output, build_texts


def _build(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        judgments = Judgments(db, require_task(db, slug).id)
        yield "reward_model.jsonl", (json.dumps(row, ensure_ascii=False) + "\n" for row in _rows(judgments))


def _rows(judgments: Judgments) -> Iterator[dict[str, Any]]:
    scales, as_chats = judgments.scales, judgments.has_chats()
    for pair in judgments.list_pairs():
        if any(scales.keys() - output.judged.keys() for output in pair):
            continue  # means over different criteria cannot be compared
        scores = {output.instance: score_whole(output, scales) for output in pair}
        chosen, rejected = sorted(pair, key=lambda output: -scores[output.instance])
        if scores[chosen.instance] == scores[rejected.instance]:
            continue
        yield _row(chosen, rejected, scores, list(scales), as_chats)


def score_whole(output: Output, scales: Mapping[str, Scale]) -> float:
    """The mean over the criteria of people's mean scores, each put on 0 to 1 by the criterion's own scale."""
    return fmean(
        (output.judged[criterion].mean - scale.low) / (scale.high - scale.low)
        for criterion, scale in scales.items()
    )


def _row(
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


FORMAT = OutFormat(
    "reward-model",
    "Reward-model pairs (JSON Lines)",
    "A line for two outputs of one input that people scored by every criterion: prompt, chosen, rejected, the margin "
    "of their mean scores (0 to 1), the scores by criterion and the conclusions. Ties are left out.",
    _build,
)
