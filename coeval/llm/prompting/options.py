"""How judgments are asked for, whatever the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PERSONAS: Mapping[str, str] = {
    "": "No persona",
    "assistant": "A helpful assistant",
    "evaluator": "A careful paid evaluator",
}
"""CoEval's own personas; any other name stands for a template ``persona-<name>`` in the user's folder."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """One judge: the model and how it is asked.

    ``samples`` answers are asked for and averaged; None stands for the protocol's own number. ``steps`` holds
    auto-CoT steps by the text of their criterion. ``logprobs`` asks for the expected score over the scale's
    tokens, and leaves a draft unscored where the endpoint does not give them. ``reference`` shows the judge
    each instance's reference. ``criteria_per_call`` is how many criteria one question covers at most, 0 for all,
    where the protocol can do it. ``templates`` is a folder with the user's own copies of templates.
    """

    model: str
    protocol: str = "coeval"
    samples: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    persona: str = ""
    steps: Mapping[str, str] = field(default_factory=dict)
    logprobs: bool = False
    templates: Path | None = None
    top_p: float | None = None
    reasoning_effort: str = ""
    reference: bool = False
    criteria_per_call: int = 1
