"""A sample without spread tells no error: nothing gives it a standard error of 0, or an interval without a width."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from coeval.extensions.facets.rasch import FacetScores, fit
from coeval.extensions.judge.learning.cross_validation import mean_over_documents, measure
from coeval.extensions.judge.model.equivalence import equivalence_test
from coeval.extensions.judge.runtime.system_differences import compare_systems
from coeval.extensions.labelling.chances import drawn_difference, drawn_mean
from coeval.extensions.labelling.corrected_judge import corrected_mean, corrected_share
from coeval.extensions.rubrics.statistics import mean_score
from coeval.stats import (
    build_report,
    correlations,
    fleiss_kappa,
    gwet_ac,
    icc,
    krippendorff_alpha,
    percent_agreement,
)
from coeval.stats.clusters import DOCUMENTS, Clusters, mean_interval
from coeval.stats.estimates import spell
from coeval.stats.report.draft_account import draft_account_section
from tests.support.studies.alt_labels import alt_test
from tests.support.studies.stats_frames import make_frames

N = 24
SAME, DOCUMENT = np.full(N, 4.0), np.repeat(np.arange(N // 2), 2)
OF_DOCUMENTS = Clusters(DOCUMENT, DOCUMENTS)
CONSTANT = np.full((3, N), 4.0)
EXACT = np.tile(np.arange(1.0, 5.0), 6)
"""Scores that differ, on which all raters agree."""
DRAFTED = pd.DataFrame(
    [
        {"annotator": who, "instance": n, "arm": "blind" if n % 2 else "assisted", "score": 4.0, "draft_score": 3.0,
         "shown_score": 3.0, "planted_score": n % 4 == 0}
        for n in range(N) for who in "ab"
    ]
)  # fmt: skip


def scored(system: str) -> pd.DataFrame:
    rows = {"document": np.arange(N).astype(str), "system": system, "score": 4.0, "people": 4.0}
    return pd.DataFrame(rows).assign(people=lambda table: table["people"].where(table.index < 12))


def compare() -> Any:
    difference = compare_systems(pd.concat([scored("a"), scored("b")]), "a", "b", "score", (1.0, 5.0))
    assert difference.below(-0.1) > 0.05, "12 equal labels do not show that the difference is above -0.1"
    return {"value": difference.value, "se": difference.se}


ESTIMATORS: dict[str, Callable[[], Any]] = {
    "a mean": lambda: mean_interval(SAME, OF_DOCUMENTS),
    "a mean of bounded scores": lambda: mean_interval(SAME, OF_DOCUMENTS, (1.0, 5.0)),
    "a mean at the end of the scale": lambda: mean_interval(SAME, OF_DOCUMENTS, (1.0, 4.0)),
    "a mean of drawn labels": lambda: drawn_mean(SAME, SAME, np.full(N, 0.5), np.arange(N) < 12, scale=(1.0, 5.0)),
    "a difference of drawn labels": lambda: drawn_difference(
        SAME, SAME, np.full(N, 0.5), np.arange(N) < 12, DOCUMENT % 2 == 0, DOCUMENT % 2 == 1
    ),
    "a corrected share": lambda: corrected_share(SAME > 3, SAME > 3, SAME > 3, clusters=DOCUMENT.astype(str)),
    "a corrected mean": lambda: corrected_mean(SAME, SAME, SAME, np.arange(1.0, 6.0), clusters=DOCUMENT.astype(str)),
    "the difference of two systems": compare,
    "an error of a judge": lambda: measure(pd.DataFrame({"document": DOCUMENT, "human": SAME, "score": SAME + 1})).rmse,
    "a mean over documents": lambda: mean_over_documents(pd.Series(SAME), pd.Series(DOCUMENT)),
    "a score of rubrics": lambda: mean_score([(1.0, str(n)) for n in range(N)], "people"),
    "effects of drafts": lambda: draft_account_section(make_frames(DRAFTED)),
    "alpha": lambda: krippendorff_alpha(CONSTANT),
    "alpha of full agreement": lambda: krippendorff_alpha(np.tile(EXACT, (3, 1))),
    "percent agreement": lambda: percent_agreement(CONSTANT),
    "Fleiss' kappa of full agreement": lambda: fleiss_kappa(np.tile(EXACT, (3, 1))),
    "AC1": lambda: gwet_ac(CONSTANT),
    "ICC": lambda: icc(CONSTANT),
    "a perfect correlation": lambda: correlations(EXACT, EXACT, clusters=DOCUMENT).dataset.pearson,
    "equivalence": lambda: vars(equivalence_test(SAME + 0.1, SAME, 0.5, OF_DOCUMENTS)),
    "a report of one score": lambda: build_report(
        make_frames(
            [
                {"annotator": who, "instance": n, "score": 4.0, "draft_score": 4.0, "shown_score": 4.0}
                for n in range(N) for who in "ab"
            ],
            [{"instance": n, "score": 4.0} for n in range(N)],
            instances=pd.DataFrame({"instance": range(N), "document": DOCUMENT.astype(str), "system": ["a", "b"] * 12}),
        ),
    ),
}  # fmt: skip
"""Every estimator with an interval or a test that can meet data without spread."""


def list_places(value: Any, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        yield path, value
        for key, entry in value.items():
            yield from list_places(entry, f"{path}.{key}")
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from list_places(entry, f"{path}[{number}]")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_estimator_takes_equal_values_for_certainty(name: str) -> None:
    found = ESTIMATORS[name]()
    for path, place in list_places(spell(found)):
        assert place.get("se") != 0, path
        low, high = place.get("ci_low"), place.get("ci_high")
        assert low is None or math.isnan(low) or low < high, path


def test_the_alt_test_of_equal_wins_depends_on_their_number() -> None:
    people = {name: dict.fromkeys(range(30), 3.0) for name in "abc"}
    p_values = [
        alt_test(dict.fromkeys(range(30), 3.0), {name: dict(list(own.items())[:n]) for name, own in people.items()},
                 0.1, min_items=5).p_values[0]
        for n in (10, 20, 30)
    ]  # fmt: skip
    assert 0.05 < p_values[1] < p_values[0] and 0 < p_values[2] < 0.05


def test_a_ruler_of_one_score_has_no_certain_rater() -> None:
    n, rater = (place.ravel() for place in np.indices((N, 3)))
    scores = FacetScores(n, n * 0, rater, (n * 0), np.zeros(N, int), np.arange(N), (2,), 3, 3)
    assert not (fit(scores).by_rater("rater", used=1)[1] == 0).any()
