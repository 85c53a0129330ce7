"""The alternative annotator test of labels by item, as published data sets have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

import numpy as np

from coeval.stats.clusters import parse_clusters
from coeval.stats.judges.alternative_annotator import MIN_ITEMS, AltTest, Labels, run_alt_test

Scores = Mapping[Hashable, float | None]


def alt_test(
    model: Scores,
    people: Mapping[Hashable, Scores],
    epsilon: float = 0.2,
    *,
    min_items: int = MIN_ITEMS,
    clusters: Mapping[Hashable, Hashable] | None = None,
) -> AltTest:
    """The test on the items that at least two people and the model scored; ``people`` is {person: {item: score}}."""
    scores = [
        (person, item, score)
        for person, by_item in enumerate(people.values())
        for item, score in by_item.items()
        if score is not None
    ]
    raters = Counter(item for _, item, _ in scores)
    kept = [item for item, n in raters.items() if n > 1 and model.get(item) is not None]
    place = {item: number for number, item in enumerate(kept)}
    used = [entry for entry in scores if entry[1] in place]
    labels = Labels(
        list(people),
        np.array([person for person, _, _ in used], dtype=np.int64),
        np.array([place[item] for _, item, _ in used], dtype=np.int64),
        np.array([score for _, _, score in used], dtype=float),
        np.array([model[item] for item in kept], dtype=float),
        len(raters) - len(kept),
        clusters and parse_clusters([clusters.get(item) for item in kept], len(kept)).code,
    )
    return run_alt_test(labels, epsilon, min_items=min_items)
