"""CoEval's own protocol: a conclusion, a score, and evidence quoted from the output."""

from __future__ import annotations

from coeval.llm.prompting.schemas import evaluation_schema
from coeval.llm.protocols.by_criterion import Form
from coeval.llm.protocols.registry import register
from coeval.llm.protocols.several import Several
from coeval.llm.reading.evaluations import parse_evaluation


@register
class ConclusionScoreEvidence(Several):
    """What people scrutinise line by line."""

    name = "coeval"
    summary = "A conclusion, a score, and evidence quoted from the output"
    answer_tokens = 220
    form = Form("coeval", parse_evaluation, evaluation_schema)
    templates = ("case", "coeval")
    several_template = "coeval-several"
