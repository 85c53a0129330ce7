"""Half rate-explain, half analyze-rate; the mean of both."""

from __future__ import annotations

from coeval.llm.protocols.by_criterion import ByCriterion, Form
from coeval.llm.protocols.closer_look.analyze_rate import AnalyzeRate
from coeval.llm.protocols.closer_look.rate_explain import RateExplain
from coeval.llm.protocols.registry import register


@register
class Ensemble(ByCriterion):
    """Never worse than the weaker of the two, and better than both in three of four published tests."""

    name = "ensemble"
    summary = "Half rate-explain, half analyze-rate; the mean of both"
    answer_tokens = (RateExplain.answer_tokens + AnalyzeRate.answer_tokens) / 2
    samples = 10
    fewest_samples = 2
    templates = (*RateExplain.templates, *AnalyzeRate.templates)

    def form_of(self, sample: int) -> Form:
        """The first half explains, the second half analyses."""
        return RateExplain.form if sample < (self.answers + 1) // 2 else AnalyzeRate.form
