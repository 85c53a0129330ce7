"""The rating, then its explanation."""

from __future__ import annotations

from coeval.llm.protocols.by_criterion import ByCriterion, Form
from coeval.llm.protocols.registry import register


@register
class RateExplain(ByCriterion):
    """The rating comes before the reasons for it."""

    name = "rate-explain"
    summary = "The rating, then its explanation"
    answer_tokens = 80
    form = Form("rate-explain")
    templates = ("case", "rate-explain")
