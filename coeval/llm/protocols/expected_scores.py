"""The expected score under a model's token probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from coeval.domain import Scale, TokenProb

MAX_PLACES = 50
"""Number of tokens that are tried as the score's token."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The mean score under the model's token probabilities.

    ``probabilities`` are those of the scale's steps, normalised to a sum of 1; ``mass`` is their original sum.
    """

    score: float
    mass: float
    probabilities: tuple[float, ...] = ()


def expected_score(
    tokens: tuple[TokenProb, ...], scale: Scale, read: Callable[[str], float | None]
) -> Expected | None:
    """Return the expected score at the score's token, or None if the score is not a single token.

    ``read`` reads a score from a whole answer. The score's token is the one that, replaced with another step of the
    scale, changes the score that is read to that step, whatever the form of the answer. Tokens off the scale are left
    out, and the remaining probabilities are normalised.
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
    """Return the step of the scale that a token states, ignoring spaces."""
    digits = text.strip()
    return int(digits) if digits in {str(step) for step in scale.steps} else None
