"""How judgments are asked for: the protocol, its parameters, and the form of the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coeval.domain import Scale
from coeval.errors import InputError
from coeval.llm.prompting.prompts import hash_templates

COEVAL, SCORE_ONLY, FREE_TEXT = "coeval", "score-only", "free-text"
RATE_EXPLAIN, ANALYZE_RATE, ENSEMBLE, FUSION = "rate-explain", "analyze-rate", "ensemble", "fusion"

PROTOCOLS: Mapping[str, str] = {
    COEVAL: "A conclusion, a score, and evidence quoted from the output",
    SCORE_ONLY: "The score alone",
    FREE_TEXT: "An open question that ends in the scale",
    RATE_EXPLAIN: "The rating, then its explanation",
    ANALYZE_RATE: "An analysis, then the rating",
    ENSEMBLE: "Half rate-explain, half analyze-rate; the mean of both",
    FUSION: "All criteria at once, with a plan and the scores of assistant evaluators",
}
"""Every protocol with a line that says what the model is asked for."""

PERSONAS: Mapping[str, str] = {
    "": "No persona",
    "assistant": "A helpful assistant",
    "evaluator": "A careful paid evaluator",
}
"""CoEval's own personas; any other name stands for a template ``persona-<name>`` in the user's folder."""

MAX_SAMPLES = 100
_OWN_SAMPLES = {ENSEMBLE: 10, FUSION: 8}
_ENSEMBLE = (RATE_EXPLAIN, ANALYZE_RATE)


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """One judge: the model and how it is asked.

    ``samples`` answers are asked for and averaged; None stands for the protocol's own number (1; 10 for the
    ensemble; 8 for fusion). ``steps`` holds auto-CoT steps by the text of their criterion. ``logprobs`` asks
    for the expected score over the scale's tokens, and leaves a draft unscored where the endpoint does not
    give them. ``templates`` is a folder with the user's own copies of templates.

    Raises:
        InputError: there is no such protocol, or too few or too many samples.
    """

    model: str
    protocol: str = COEVAL
    samples: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    persona: str = ""
    steps: Mapping[str, str] = field(default_factory=dict)
    logprobs: bool = False
    templates: Path | None = None

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise InputError(f"There is no protocol {self.protocol!r}: use one of {', '.join(PROTOCOLS)}.")
        least = 2 if self.protocol == ENSEMBLE else 1
        if not least <= self.answers <= MAX_SAMPLES:
            raise InputError(
                f"{self.samples} samples cannot be asked for with {self.protocol}: use {least} to {MAX_SAMPLES}."
            )

    @property
    def answers(self) -> int:
        """How many answers each judgment takes."""
        return _OWN_SAMPLES.get(self.protocol, 1) if self.samples is None else self.samples

    def form_of(self, sample: int) -> str:
        """The protocol of the n-th answer: the ensemble's first half explains, its second half analyses."""
        if self.protocol != ENSEMBLE:
            return self.protocol
        return _ENSEMBLE[0] if sample < (self.answers + 1) // 2 else _ENSEMBLE[1]

    @property
    def template_names(self) -> tuple[str, ...]:
        """Every template that these options render from."""
        forms = _ENSEMBLE if self.protocol == ENSEMBLE else (self.protocol,)
        case = () if self.protocol == FUSION else ("case",)
        persona = (f"persona-{self.persona}",) if self.persona else ()
        return (*persona, *case, *forms, "reask")

    @property
    def prompt_hash(self) -> str:
        """SHA-256 over those templates: what a run records as the prompt it was made with."""
        return hash_templates(self.template_names, self.templates)


def answer_schema(scale: Scale) -> dict[str, object]:
    """The JSON schema of an answer under the coeval protocol, within what strict modes support."""
    passage = _object({"quote": {"type": "string"}, "remark": {"type": "string"}})
    return _object(
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


def _object(properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
