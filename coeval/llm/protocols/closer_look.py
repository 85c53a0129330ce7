"""The four forms of question in Chiang and Lee (2023), and the ensemble of two of them.

"A Closer Look into Automatic Evaluation Using Large Language Models".
"""

from __future__ import annotations

from coeval.llm.protocols.by_criterion import ByCriterion, Form
from coeval.llm.protocols.protocol import register


@register
class ScoreOnly(ByCriterion):
    """Asks for the score only: the cheapest question, with the lowest agreement with people."""

    name = "score-only"
    summary = "The score alone"
    answer_tokens = 6
    form = Form("score-only")
    templates = ("case", "score-only")


@register
class FreeText(ByCriterion):
    """Lets the model answer freely."""

    name = "free-text"
    summary = "An open question that ends in the scale"
    answer_tokens = 60
    form = Form("free-text")
    templates = ("case", "free-text")


@register
class RateExplain(ByCriterion):
    """Asks for the rating before the reasons."""

    name = "rate-explain"
    summary = "The rating, then its explanation"
    answer_tokens = 80
    form = Form("rate-explain")
    templates = ("case", "rate-explain")


@register
class AnalyzeRate(ByCriterion):
    """Asks for the reasons before the rating."""

    name = "analyze-rate"
    summary = "An analysis, then the rating"
    answer_tokens = 100
    form = Form("analyze-rate")
    templates = ("case", "analyze-rate")


@register
class Ensemble(ByCriterion):
    """Averages two forms. In published tests, the mean is never worse than the weaker form, and in three of four it is
    better than both.
    """

    name = "ensemble"
    summary = "Half rate-explain, half analyze-rate; the mean of both"
    answer_tokens = (RateExplain.answer_tokens + AnalyzeRate.answer_tokens) / 2
    samples = 10
    fewest_samples = 2
    templates = (*RateExplain.templates, *AnalyzeRate.templates)

    def form_of(self, sample: int) -> Form:
        """Return the rate-explain form for the first half of the samples, and the analyze-rate form for the rest."""
        return RateExplain.form if sample < (self.answers + 1) // 2 else AnalyzeRate.form
