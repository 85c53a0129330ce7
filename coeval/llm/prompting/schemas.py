"""JSON schemas of answers, within what the strict modes of endpoints support."""

from __future__ import annotations

from collections.abc import Mapping

from coeval.domain import Scale


def evaluation_schema(scale: Scale) -> dict[str, object]:
    """A conclusion, a score on the scale, and evidence: passages, each with a remark."""
    passage = build_object({"quote": {"type": "string"}, "remark": {"type": "string"}})
    return build_object(
        {
            "conclusion": {"type": "string"},
            "score": {"type": "integer", "enum": list(scale.steps)},
            "evidence": {"type": "array", "items": passage},
        }
    )


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
