"""An analysis, then the rating."""

from __future__ import annotations

from coeval.llm.protocols.by_criterion import ByCriterion, Form
from coeval.llm.protocols.registry import register


@register
class AnalyzeRate(ByCriterion):
    """The reasons come before the rating that follows from them."""

    name = "analyze-rate"
    summary = "An analysis, then the rating"
    answer_tokens = 100
    form = Form("analyze-rate")
    templates = ("case", "analyze-rate")
