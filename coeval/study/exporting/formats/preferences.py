"""Preference pairs: two outputs of one input, the one that people scored higher by a criterion chosen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from coeval.domain import Person
from coeval.study.access import Context, require_task
from coeval.study.exporting.formats.format import Files, OutFormat
from coeval.study.exporting.formats.judged_outputs import Judgments, Output, build_texts


def _build(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        judgments = Judgments(db, require_task(db, slug).id)
        yield "preferences.jsonl", (json.dumps(row, ensure_ascii=False) + "\n" for row in _rows(judgments))


def _rows(judgments: Judgments) -> Iterator[dict[str, Any]]:
    criteria, as_chats = judgments.scales, judgments.has_chats()
    for pair in judgments.list_pairs():
        for criterion in criteria:
            scored = [output for output in pair if criterion in output.judged]
            if len(scored) < 2 or pair[0].judged[criterion].mean == pair[1].judged[criterion].mean:
                continue
            chosen, rejected = sorted(pair, key=lambda output: -output.judged[criterion].mean)
            yield _row(chosen, rejected, criterion, as_chats)


def _row(chosen: Output, rejected: Output, criterion: str, as_chats: bool) -> dict[str, Any]:
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


FORMAT = OutFormat(
    "preferences",
    "Preference pairs (JSON Lines)",
    "A line for two outputs of one input and a criterion: prompt, chosen and rejected by people's mean score, each "
    "with the scores and the conclusions. For DPO and the like; ties are left out.",
    _build,
)
