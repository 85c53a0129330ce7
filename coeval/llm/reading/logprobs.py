"""The expected score over the scale's tokens (G-Eval, section 2.3), where an endpoint gives log-probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from coeval.domain import Scale, TokenProb

MAX_PLACES = 50
"""Tokens that are tried as the place of the score."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The mean of the scale's steps under the model's probabilities, which add up to ``mass`` on the scale.

    ``probabilities`` are those of each step, brought to one.
    """

    score: float
    mass: float
    probabilities: tuple[float, ...] = ()


def expected_score(
    tokens: tuple[TokenProb, ...], scale: Scale, read: Callable[[str], float | None]
) -> Expected | None:
    """The expected score at the score's token, or None where there is no single token of the score.

    ``read`` reads a score out of a whole answer. The score's token is the one whose exchange for another
    step of the scale changes what is read to that step, whatever the form of the answer. Probabilities of
    tokens off the scale are left out and the rest brought to one.
    """
    place = _score_place([token.token for token in tokens], scale, read)
    if place is None:
        return None
    token = tokens[place]
    chances = dict(token.top) | {token.token: token.logprob}
    weights = dict.fromkeys(scale.steps, 0.0)
    for text, logprob in chances.items():
        step = _step(text, scale)
        if step is not None:
            weights[step] += math.exp(logprob)
    mass = math.fsum(weights.values())
    if mass <= 0:
        return None
    score = math.fsum(step * weight for step, weight in weights.items()) / mass
    return Expected(score, min(1.0, mass), tuple(weight / mass for weight in weights.values()))


def _score_place(texts: list[str], scale: Scale, read: Callable[[str], float | None]) -> int | None:
    score = read("".join(texts))
    if score is None:
        return None
    places = [index for index, text in enumerate(texts) if _step(text, scale) == score]
    other = next((step for step in reversed(scale.steps) if step != score), None)
    if other is None:
        return None
    for index in places[-MAX_PLACES:]:
        exchanged = texts[index].replace(str(int(score)), str(other))
        if read("".join([*texts[:index], exchanged, *texts[index + 1 :]])) == other:
            return index
    return None


def _step(text: str, scale: Scale) -> int | None:
    """The step of the scale that a token is, spaces aside."""
    digits = text.strip()
    return int(digits) if digits in {str(step) for step in scale.steps} else None
