"""An open question that ends in the scale."""

from __future__ import annotations

from coeval.llm.protocols.by_criterion import ByCriterion, Form
from coeval.llm.protocols.registry import register


@register
class FreeText(ByCriterion):
    """The model may answer as it likes."""

    name = "free-text"
    summary = "An open question that ends in the scale"
    answer_tokens = 60
    form = Form("free-text")
    templates = ("case", "free-text")
