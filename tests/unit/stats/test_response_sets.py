"""Sets of defensible scores: agreement by hand, judges that people would defend, and the band of forced choices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from coeval.stats.estimates import plain
from coeval.stats.frames import StudyFrames
from coeval.stats.report.response_sets import response_sets_section, response_sets_tables
from tests.support.studies.stats_frames import make_frames


def study(scores: list[tuple[str, int, int]], also: list[tuple[str, int, str]] = ()) -> StudyFrames:  # type: ignore[assignment]
    rows = [{"annotator": who, "instance": n, "score": score, "arm": "blind"} for who, n, score in scores]
    units = {n for _, n, _ in scores}
    drafts = [
        {"instance": n, "score": 3, "run": run, "run_label": label, "samples": samples}
        for run, label, samples in ((1, "steady", (3, 3)), (2, "torn", (3, 4)))
        for n in units
    ]
    further = pd.DataFrame(also, columns=["annotator", "instance", "also"]).assign(criterion="clear")
    return replace(make_frames(rows, drafts), also=further)


FORCED = [
    ("Ana", 1, 3),
    ("Ben", 1, 4),
    ("Ana", 2, 3),
    ("Ben", 2, 5),
    ("Ana", 3, 2),
    ("Ben", 3, 2),
    ("Ana", 4, 1),
]


def test_sets_by_hand() -> None:
    """Ana defends 4 beside her 3 of the first; both of the second would defend 4."""
    found = response_sets_section(study(FORCED, [("Ana", 1, "4"), ("Ana", 2, "4"), ("Ben", 2, "4")]))
    assert (found.n, found.with_more, found.band, found.best_changes) == (7, 3, [], None)
    people = found.people
    assert float(people.same.value) == pytest.approx(1 / 3) and float(people.overlap.value) == 1
    assert float(people.defended.value) == pytest.approx((0.5 + 0 + 1) / 3)
    # of the neighbours of 3, 4, 3, 5, 2, 2 and 1 these three were named
    assert found.neighbours == pytest.approx(3 / 12)
    steady, torn = found.judges
    # shares who name 3: .5, .5, 0, 0; and 4: 1, 1, 0, 0
    assert float(steady.defended.value) == pytest.approx(0.25)
    assert float(torn.defended.value) == pytest.approx((0.75 + 0.75) / 4)
    first = 0.5**2 + 1
    assert float(steady.mse.value) == pytest.approx((first + (0.5**2 + 1 + 0.5**2) + 2 + 2) / 4)
    assert [table.name for table in response_sets_tables(found)] == ["response_sets"]


def test_single_scores_give_a_band() -> None:
    found = response_sets_section(study(FORCED))
    assert found.with_more == 0 and np.isnan(found.neighbours)
    assert float(found.people.same.value) == float(found.people.overlap.value) == pytest.approx(1 / 3)
    by = {one.share: one for one in found.band}
    assert float(by[0.0].overlap) == pytest.approx(1 / 3)
    # one pair is equal, one apart by 1, one by 2
    assert float(by[0.5].overlap) == pytest.approx((1 + 0.75 + 0.25) / 3)
    assert by[0.0].judges["steady"] == pytest.approx(float(found.judges[0].mse.value))
    assert [table.name for table in response_sets_tables(found)] == ["response_sets_band"]
    assert plain(found)["band"][0]["best"] in ("steady", "torn")


def test_the_band_is_what_people_would_have_marked() -> None:
    """People who defend each neighbour with a chance of .3: their sets meet as often as the band says."""
    rng = np.random.default_rng(5)
    scores, also = [], []
    for n in range(1500):
        for who in "abc":
            score = int(np.clip(np.rint(rng.normal(3, 0.9)), 1, 5))
            scores.append((who, n, score))
            named = [k for k in (score - 1, score + 1) if 1 <= k <= 5 and rng.random() < 0.3]
            if named:
                also.append((who, n, " ".join(map(str, named))))
    marked = response_sets_section(study(scores, also))
    band = {one.share: one for one in response_sets_section(study(scores)).band}
    assert float(marked.people.overlap.value) == pytest.approx(float(band[0.3].overlap), abs=0.015)
    assert marked.neighbours == pytest.approx(0.3, abs=0.02)


def test_another_judge_may_be_best_where_sets_count() -> None:
    """People who must choose say 3 or 5; each would defend 4. A judge that says 4 is best only then."""
    scores = [(who, n, score) for n in range(30) for who, score in (("a", 3), ("b", 5))]
    drafts = [
        {"instance": n, "score": score, "run": run, "run_label": label}
        for run, (label, score) in enumerate((("three", 3), ("four", 4)))
        for n in range(30)
    ]
    rows = [{"annotator": who, "instance": n, "score": score, "arm": "blind"} for who, n, score in scores]
    forced = response_sets_section(make_frames(rows, drafts))
    assert forced.band[0].best == "three" and forced.best_changes
    said = response_sets_tables(forced)[0].note
    assert "Which judge is best depends on it" in said
    further = pd.DataFrame(
        [(who, n, "4", "clear") for who, n, _ in scores],
        columns=["annotator", "instance", "also", "criterion"],
    )
    marked = response_sets_section(replace(make_frames(rows, drafts), also=further))
    three, four = marked.judges
    assert float(four.defended.value) == 1 > float(three.defended.value) == 0.5


def test_a_set_marked_after_the_draft_says_nothing_of_the_score_before_it() -> None:
    rows = [
        {"annotator": who, "instance": n, "score": 4, "first_score": 2, "arm": "first"}
        for who in "ab"
        for n in range(3)
    ]
    further = pd.DataFrame([("a", 0, "clear", "5")], columns=["annotator", "instance", "criterion", "also"])
    assert response_sets_section(replace(make_frames(rows), also=further)).with_more == 0


def test_without_scores_there_is_nothing() -> None:
    nothing = response_sets_section(make_frames([]))
    assert nothing.n == 0 and not response_sets_tables(nothing)
