"""Say how a run's scores were obtained, and whether they differ: what an owner must know before using them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coeval.domain import Rung

FEW_SCORES = 8
"""Number of scores below which nothing is said about how much they differ."""

ALIKE = 0.9
"""Share of the most frequent score of each criterion from which a run's scores hardly differ."""

NEAR = 0.05
"""Largest distance from the median of a criterion's scores at which a score counts as the same."""

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

    Expected scores are never equal, so a score counts as alike within ``NEAR`` of its criterion's median.

    >>> list(tell_sameness({(1, 5.0): 17, (1, 4.0): 1}))
    ['17 of 18 scores are 5: this model does not distinguish.']
    >>> list(tell_sameness({(1, 2.04 + n / 600): 1 for n in range(18)}))
    ['18 of 18 scores are about 2.06: this model does not distinguish.']
    """
    medians: list[float] = []
    most, same = 0, True
    for criterion in {criterion for criterion, _ in scores}:
        counts = sorted((score, n) for (by, score), n in scores.items() if by == criterion)
        values = [score for score, n in counts for _ in range(n)]
        median = values[len(values) // 2]
        near = [score for score in values if abs(score - median) <= NEAR]
        medians.append(median)
        most, same = most + len(near), same and len(set(near)) == 1
    total = sum(scores.values())
    if total < FEW_SCORES or most < ALIKE * total:
        return
    if len({f"{median:.2f}" for median in medians}) > 1:
        which = "the most frequent one of their criterion" if same else "about the same on each criterion"
    else:
        which = f"{medians[0]:g}" if same else f"about {medians[0]:.2f}"
    yield f"{most:,} of {total:,} scores are {which}: this model does not distinguish."
