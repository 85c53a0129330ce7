"""Soft labels and equivalence: by hand, on a study, and how often the test of equivalence errs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon

from coeval.stats.clusters import Clusters
from coeval.stats.judges.closeness import entropies, equivalence_test, js_distances, shares_of
from coeval.stats.report.alignment import (
    equivalence_section,
    equivalence_tables,
    soft_labels_section,
    soft_labels_tables,
)
from tests.benchmarks.coverage import equivalence_cells, simulate
from tests.support.studies.stats_frames import make_frames, simulate_frames


def test_distances_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.dirichlet(np.ones(5), 40), rng.dirichlet(np.ones(5), 40)
    expected = [jensenshannon(a, b, base=2) for a, b in zip(first, second, strict=True)]
    assert js_distances(first, second) == pytest.approx(expected, abs=1e-9)
    assert entropies(first) == pytest.approx(stats.entropy(first, base=2, axis=1))
    assert shares_of(np.array([3.4]), np.array([1.0, 2, 3, 4, 5]))[0] == pytest.approx([0, 0, 0.6, 0.4, 0])


def test_soft_labels_by_hand() -> None:
    # item i: 4 4 2, item j: 3 3 3; the judge says 4 and 2
    given = {"i": (4, 4, 2), "j": (3, 3, 3)}
    scores = [
        {"annotator": f"p{k}", "instance": item, "score": score, "arm": "blind"}
        for item, values in given.items()
        for k, score in enumerate(values)
    ]
    drafts = [{"instance": "i", "score": 4}, {"instance": "j", "score": 2}]
    section = soft_labels_section(make_frames(scores, drafts))
    (spread,), (judge,) = section.spread, section.judges
    # entropy of (2/3, 1/3) is 0.918 bits, of one score 0
    assert float(spread.entropy.value) == pytest.approx(0.9183 / 2, abs=1e-4)
    assert float(spread.unanimous.value) == 0.5 and spread.distribution["3"] == 0.5
    near = jensenshannon([0, 1], [1 / 3, 2 / 3], base=2)
    assert float(judge.distance.value) == pytest.approx((near + 1) / 2)
    # left out of i: a 4 against (4, 2) twice, the 2 against (4, 4); of j nobody differs
    half = jensenshannon([0, 1], [0.5, 0.5], base=2)
    assert float(judge.people.value) == pytest.approx((2 * half + 1) / 3 / 2)
    assert not section.leaned and len(soft_labels_tables(section)[1].frame) == 1


def test_equivalence_is_the_interval_within_the_margin() -> None:
    rng = np.random.default_rng(2)
    people = rng.normal(3, 1, 60)
    judge = people + rng.normal(0.1, 0.5, 60)
    found = equivalence_test(judge, people, 0.3, Clusters(np.arange(60)))
    gaps = judge - people
    low, high = stats.t.interval(0.9, 59, gaps.mean(), gaps.std(ddof=1) / np.sqrt(60))
    assert found.bias.ci == pytest.approx((low, high))
    assert found.smallest_margin == pytest.approx(max(abs(low), abs(high)))
    above = stats.ttest_1samp(gaps, 0.3, alternative="less").pvalue
    below = stats.ttest_1samp(gaps, -0.3, alternative="greater").pvalue
    assert found.p_value == pytest.approx(max(above, below))
    assert (found.p_value < 0.05) == (found.smallest_margin < 0.3)
    with pytest.raises(ValueError, match="margin of 0"):
        equivalence_test(judge, people, 0, Clusters(np.arange(60)))
    assert equivalence_test(people + 1, people, 0.3, Clusters(np.arange(60))).p_value.reason
    assert equivalence_test(judge, people, 0.3, Clusters(np.zeros(60, dtype=int))).bias.reason


def test_sections_of_a_study_and_of_one_that_only_saw_drafts() -> None:
    study = simulate_frames()
    section = equivalence_section(study)
    assert {row.criterion for row in section.rows} == set(study.criteria)
    known = [row for row in section.rows if row.bias.value.defined]
    assert known and all(row.margin == 0.125 * 4 and row.equivalent is not None for row in known)
    assert all(row.p_holm >= row.p_value for row in known)
    assert len(equivalence_tables(section)[0].frame) == len(known)
    seen = make_frames(
        [{"annotator": a, "instance": i, "score": 3} for a in "ab" for i in "ij"],
        [{"instance": i, "score": 3} for i in "ij"],
    )
    (row,) = equivalence_section(seen).rows
    assert "draft in view" in (row.p_value.reason or "") and row.equivalent is None
    assert soft_labels_section(seen).leaned


def test_equivalence_errs_as_rarely_as_it_promises() -> None:
    for cell, (rate, _) in simulate(equivalence_cells(20), 300).items():
        assert rate <= 0.09, (cell, rate)
