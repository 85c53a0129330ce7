"""Ratings on a scale of which some points were not used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from coeval.stats.rating_matrix import Ratings, parse_ratings


def rate_on(ratings: Any, points: Sequence[float]) -> Ratings:
    """The ratings with all points of the scale as their categories."""
    data, categories = parse_ratings(ratings), np.array(points, dtype=float)
    return replace(data, categories=categories, code=np.searchsorted(categories, data.numbers)[data.code])
