"""JSON schemas of answers, within what the strict modes of endpoints support."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coeval.domain import Scale


def evaluation_schema(scale: Scale) -> dict[str, object]:
    """A conclusion, a score on the scale, and evidence: passages, each with a remark."""
    return build_object(_evaluation(scale.steps))


def evaluations_schema(scales: Sequence[Scale]) -> dict[str, object]:
    """A list of evaluations, each with the number of its criterion, from 1; a score is on any of the scales."""
    steps = sorted({step for scale in scales for step in scale.steps})
    number = {"type": "integer", "enum": list(range(1, len(scales) + 1))}
    each = build_object({"criterion": number} | _evaluation(steps))
    return build_object({"evaluations": {"type": "array", "items": each}})


def _evaluation(steps: Sequence[int]) -> dict[str, object]:
    passage = build_object({"quote": {"type": "string"}, "remark": {"type": "string"}})
    return {
        "conclusion": {"type": "string"},
        "score": {"type": "integer", "enum": list(steps)},
        "evidence": {"type": "array", "items": passage},
    }


CRITERIA_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"criteria": {"type": "array", "items": {"type": "string"}}},
    "required": ["criteria"],
    "additionalProperties": False,
}
"""A list of criteria."""


def build_object(properties: dict[str, object]) -> dict[str, object]:
    """The schema of an object with all of these members and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
