"""The contract between learning, the judge's file and the certificate: labels, and what was fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from coeval.domain import Scale
from coeval.errors import InputError
from coeval.extensions.judge.model.fitted import (
    Bench,
    Calibration,
    Deferral,
    Feature,
    Fitted,
    Isotonic,
    Jury,
    Linear,
    Member,
    Ordinal,
)
from coeval.extensions.judge.model.labels import Labels, tabulate_answers
from coeval.llm.prompting.questions import Example, mark_document

PEOPLE = pd.DataFrame(
    {
        "instance": ["a1", "a1", "b1", "c1"],
        "document": ["a", "a", "b", "c"],
        "system": "s",
        "criterion": "clear",
        "person": ["P1", "P2", "P1", "P1"],
        "score": [1.0, 2.0, 4.0, 5.0],
    }
)
JUDGES = pd.DataFrame(
    {
        "instance": ["a1", "b1", "c1", "a1", "b1", "c1"],
        "criterion": "clear",
        "judge": ["x"] * 3 + ["y"] * 3,
        "score": [2.0, 4.0, np.nan, 1.0, 5.0, np.nan],
        "spread": [0.5, 0.0, np.nan, 0.5, 1.0, np.nan],
        "probabilities": [(0, 1, 0, 0, 0), (0, 0, 0, 0.5, 0.5), None, None, None, None],
    }
)
SCALES = {"clear": Scale(1, 5)}


def test_labels_of_some_documents_hold_nothing_of_the_others() -> None:
    labels = Labels(PEOPLE, JUDGES, SCALES)
    assert labels.documents == ("a", "b", "c") and labels.criteria == ("clear",)
    part = labels.for_documents(["b"]).by_judges(["y"])
    assert part.people["instance"].tolist() == part.judges["instance"].tolist() == ["b1"]
    assert part.members == ("y",) and labels.members == ("x", "y")


@pytest.mark.parametrize(
    "people, judges, told",
    [
        ({"person": "P1"}, {}, "scored instance a1 on 'clear' twice"),
        ({"document": ["a", "b", "b", "c"]}, {}, "is in two documents"),
        ({"score": np.nan}, {}, "score of a person is missing"),
        ({"score": "good"}, {}, "contains words"),
        ({"criterion": "dull"}, {}, "The criterion 'dull' has no scale"),
        ({}, {"judge": "x"}, "scored instance a1 on 'clear' twice"),
        ({}, {"probabilities": [(0.5, 0.5)] * 6}, "must be 5 numbers"),
    ],
)
def test_labels_refuse_what_would_mislead(
    people: Mapping[str, Any], judges: Mapping[str, Any], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        Labels(PEOPLE.assign(**people), JUDGES.assign(**judges), SCALES)
    with pytest.raises(InputError, match="has no column 'person'"):
        Labels(PEOPLE.drop(columns="person"), JUDGES, SCALES)


def bench(**changes: Any) -> Bench:
    members = (Member(judge="x", mean=3, sd=1, weight=1), Member(judge="y", mean=3, sd=2, weight=3))
    return Bench(**{"members": members, "low": 1, "high": 5} | changes)


def jury(kind: Any, **changes: Any) -> list[float]:
    return Jury(kind=kind, benches={"clear": bench(**changes)}).apply(JUDGES)["score"].tolist()


def test_a_jury_combines_its_members() -> None:
    # z of x: -1, 1; of y: -1, 1
    assert jury("mean", intercept=3, slope=2) == pytest.approx([1, 5, np.nan], nan_ok=True)
    assert jury("mean", intercept=3, slope=1) == pytest.approx([2, 4, np.nan], nan_ok=True)
    assert jury("ridge", intercept=3, slope=0.25) == pytest.approx([2, 4, np.nan], nan_ok=True)
    assert jury("vote") == pytest.approx([1, 5, np.nan], nan_ok=True)
    table = Jury(kind="vote", benches={}).apply(JUDGES)
    assert table["score"].tolist() == pytest.approx([1.5, 4.5, np.nan], nan_ok=True)
    assert table["disagreement"][0] == pytest.approx(np.sqrt(0.5))
    assert table["probabilities"].tolist() == [(0, 1, 0, 0, 0), (0, 0, 0, 0.5, 0.5), None]


def test_a_member_that_did_not_score_is_left_out() -> None:
    alone = JUDGES[(JUDGES["judge"] == "x")]
    sat = Jury(kind="mean", benches={"clear": bench(intercept=3)}).apply(alone)
    assert sat["score"].tolist() == pytest.approx([2, 4, np.nan], nan_ok=True)


def calibrate(fitted: Any) -> list[float]:
    table = Fitted().apply(JUDGES[JUDGES["judge"] == "x"])
    return Calibration(maps={"clear": fitted}).apply(table)["score"].tolist()


def test_maps_give_peoples_scale_and_leave_the_unread_unscored() -> None:
    assert calibrate(Isotonic(raw=(1, 3), people=(2, 4))) == pytest.approx([3, 4, np.nan], nan_ok=True)
    own = Feature(criterion="clear", mean=3, weight=2)
    assert calibrate(Linear(intercept=3, features=(own,), low=1, high=5)) == pytest.approx(
        [1, 5, np.nan], nan_ok=True
    )
    likely = Feature(criterion="clear", answer=1, weight=2)
    assert calibrate(Linear(intercept=1, features=(likely,), low=1, high=5)) == pytest.approx(
        [3, 1, np.nan], nan_ok=True
    )
    steps = tuple(range(1, 6))
    ordinal = Ordinal(
        features=(Feature(criterion="clear", mean=3, weight=40),), cuts=(-80, -20, 20, 80), steps=steps
    )
    assert calibrate(ordinal) == pytest.approx([2, 4, np.nan], nan_ok=True)


def test_what_was_fitted_comes_back_from_json_and_does_the_same() -> None:
    own = Feature(criterion="clear", mean=3, weight=1)
    fitted = Fitted(
        examples=(
            Example(
                input="i",
                output="o",
                criterion="clear",
                score=2,
                reason="why",
                document=mark_document("a", "salt"),
            ),
        ),
        jury=Jury(kind="mean", benches={"clear": bench(intercept=3)}),
        calibration=Calibration(maps={"clear": Linear(intercept=3, features=(own,), low=1, high=5)}),
        deferral=Deferral(
            kind="jury", threshold=-1, within=0, coverage=1, agreement=0.9, level=0.1, computed="so"
        ),
    )
    again = Fitted.model_validate_json(fitted.model_dump_json())
    assert again == fitted
    pd.testing.assert_frame_equal(again.apply(JUDGES), fitted.apply(JUDGES))
    with pytest.raises(ValidationError, match="rise"):
        Isotonic(raw=(1, 1), people=(1, 2))
    with pytest.raises(ValidationError, match="Extra inputs"):
        Fitted.model_validate({"code": "import os"})
    with pytest.raises(ValidationError, match="finite"):
        Fitted.model_validate_json(
            '{"calibration": {"maps": {"c": {"kind": "isotonic", "raw": [NaN], "people": [1]}}}}'
        )


def test_shares_of_samples_are_no_probabilities_beside_those_that_a_judge_gave() -> None:
    """A study and a judge away from it make this table by the one function: what was certified is what runs."""
    sampled = ("1", "c", "j", 3.0, (2.0, 4.0), ())
    table = tabulate_answers([sampled, ("2", "c", "j", None, (), (0.25, 0.75))])
    assert table["probabilities"].tolist() == [None, (0.25, 0.75)]
    assert table["score"].isna().tolist() == [False, True] and table["spread"].iloc[0] == pytest.approx(
        2**0.5
    )
    assert "probabilities" not in tabulate_answers([sampled])


def test_single_answers_are_scored_as_the_judge_would_have_scored_them() -> None:
    """The n-th answers of both members make the n-th score; a member with one answer leaves nothing to compare."""
    judges = pd.DataFrame(
        [("x", "a", "one", 2.0, 1.0, (1.0, 3.0, 2.0)), ("x", "a", "two", 4.0, 1.0, (4.0, 4.0)),
         ("y", "a", "one", 3.0, 0.0, (3.0, 3.0)), ("y", "a", "two", 3.0, np.nan, ())],
        columns=["instance", "criterion", "judge", "score", "spread", "samples"],
    )  # fmt: skip
    halved = Linear(intercept=0.0, features=(Feature(criterion="a", weight=0.5),), low=0, high=5)
    fitted = Fitted(calibration=Calibration(maps={"a": halved}))
    assert fitted.apply_each(judges).to_dict() == {("x", "a"): (1.25, 1.75), ("y", "a"): ()}
    assert fitted.apply_each(judges.iloc[:0]).empty
