"""The score alone."""

from __future__ import annotations

from coeval.llm.protocols.by_criterion import ByCriterion, Form
from coeval.llm.protocols.registry import register


@register
class ScoreOnly(ByCriterion):
    """The cheapest question; its agreement with people is the lowest."""

    name = "score-only"
    summary = "The score alone"
    answer_tokens = 6
    form = Form("score-only")
    templates = ("case", "score-only")
