"""Say how a run's scores were obtained, and whether they differ: what an owner must know before using them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from coeval.domain import Rung

FEW_SCORES = 8
"""Number of scores below which nothing is said about how much they differ."""

ALIKE = 0.9
"""Share of the most frequent score of each criterion from which a run's scores hardly differ."""

OFTEN = 0.1
"""Share of answers in no form from which a remedy is named."""


def tell_forms(rungs: Mapping[str, int], unscored: int) -> Iterator[str]:
    """Yield the share of answers in no form before and after asking again, and the number of scores by each rung.

    >>> list(tell_forms({"schema": 88, "asked again": 9}, 3))[0]
    '12% in no form; 3% after asking again; answers by schema: on.'
    """
    counts = {rung: rungs[rung] for rung in Rung if rungs.get(rung)}
    total = sum(counts.values()) + unscored
    if not total or not (counts or unscored):
        return
    first = counts.get(Rung.AGAIN, 0) + unscored
    schema = Rung.SCHEMA in counts or Rung.DECISION in counts
    said = f"{first / total:.0%} in no form; {unscored / total:.0%} after asking again"
    yield f"{said}; answers by schema: {'on' if schema else 'off'}."
    if len(counts) > 1:
        listed = ", ".join(f"{n:,} by {rung}" for rung, n in counts.items())
        yield f"The scores were obtained in different ways: {listed}."
    if first / total >= OFTEN and not schema:
        yield (
            "A form helps: use the protocol coeval or pairwise on an endpoint that answers by a JSON schema, or the "
            "protocol decision."
        )


def tell_sameness(scores: Mapping[tuple[int, float], int]) -> Iterator[str]:
    """Yield a warning if a run's scores hardly differ; ``scores`` counts each score by each criterion.

    >>> list(tell_sameness({(1, 5.0): 17, (1, 4.0): 1}))
    ['17 of 18 scores are 5: this model does not distinguish.']
    """
    total = sum(scores.values())
    modes: dict[int, tuple[int, float]] = {}
    for (criterion, score), n in scores.items():
        modes[criterion] = max(modes.get(criterion, (0, score)), (n, score))
    most = sum(n for n, _ in modes.values())
    if total < FEW_SCORES or most < ALIKE * total:
        return
    levels = Counter(score for _, score in modes.values())
    which = f"{next(iter(levels)):g}" if len(levels) == 1 else "the most frequent one of their criterion"
    yield f"{most:,} of {total:,} scores are {which}: this model does not distinguish."
