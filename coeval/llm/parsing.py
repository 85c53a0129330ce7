"""Model text -> rating, evaluation, criteria, steps, plan, fused scores. Pure; never raises, whatever the text."""

from __future__ import annotations

from coeval.llm.evaluations import ParsedEvaluation, parse_evaluation, parse_rationale
from coeval.llm.fused_scores import OVERALL, ParsedScore, parse_scores
from coeval.llm.lists import parse_criteria, parse_plan, parse_steps
from coeval.llm.ratings import Reading, parse_rating, read_rating

__all__ = [
    "OVERALL",
    "ParsedEvaluation",
    "ParsedScore",
    "Reading",
    "parse_criteria",
    "parse_evaluation",
    "parse_plan",
    "parse_rating",
    "parse_rationale",
    "parse_scores",
    "parse_steps",
    "read_rating",
]
