"""What a criterion is worth: planted weights are found on held-out documents, and noise is worth nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from coeval.extensions.labelling.criterion_worth import WeighCriteria, tell_worth, worth_rows
from tests.support.studies.stats_frames import make_frames

CRITERIA = ("clear", "right", "long", "overall good")


def make_study(documents: int = 150, seed: int = 3) -> object:
    """Overall follows "right" most and "clear" a little; "long" says nothing."""
    rng = np.random.default_rng(seed)
    rows, instances = [], []
    for n in range(documents * 2):
        worth = dict(zip(CRITERIA[:3], rng.normal(0, 1, 3), strict=True))
        worth["overall good"] = 0.8 * worth["right"] + 0.3 * worth["clear"] + rng.normal(0, 0.4)
        instances.append({"instance": n, "document": f"d{n // 2}", "system": None})
        rows += [
            {"annotator": who, "instance": n, "criterion": name, "arm": "blind", "active_seconds": 20.0 + k,
             "score": float(np.clip(np.rint(3 + value + rng.normal(0, 0.3)), 1, 5))}
            for who in ("Ana", "Ben")
            for k, (name, value) in enumerate(worth.items())
        ]  # fmt: skip
    return make_frames(rows, criteria=CRITERIA, instances=pd.DataFrame(instances))


def test_planted_weights_are_found() -> None:
    found = WeighCriteria()(make_study())  # type: ignore[arg-type]
    assert found.overall == "overall good" and [one.criterion for one in found.criteria[:2]] == [
        "right",
        "clear",
    ]
    right, clear, long = found.criteria
    assert float(right.alone) > 0.5 > 0.2 > float(clear.alone) and abs(float(long.added)) < 0.03
    assert right.added.ci_low > 0.3 and clear.added.ci_low > 0 > long.added.ci_low
    assert found.kept <= 2 and right.alpha > 0.8 and right.seconds == 21.0
    assert float(found.whole) == pytest.approx(found.criteria[-1].so_far)
    assert next(line for line in tell_worth(found) if "right" in line).startswith("* right")
    assert len(worth_rows(found)) == 6
    whole = WeighCriteria(share=1.0)(make_study())  # type: ignore[arg-type]
    assert whole.kept >= found.kept


def test_preferences_are_explained_by_differences_within_documents() -> None:
    """People prefer the output that is more right; that documents differ in all scores must not count."""
    rng = np.random.default_rng(5)
    rows, instances, preferred = [], [], []
    for d in range(120):
        hard, right, long = rng.normal(0, 1.5), rng.normal(0, 1, 2), rng.normal(0, 1, 2)
        wins = (right + rng.normal(0, 0.3, 2)).argmax()
        for k in (0, 1):
            name = f"{d}/{k}"
            instances.append({"instance": name, "document": f"d{d}", "system": f"s{k}"})
            preferred.append((name, float(k == wins)))
            rows += [
                {
                    "annotator": "Ana",
                    "instance": name,
                    "criterion": criterion,
                    "arm": "blind",
                    "score": float(value),
                }
                for criterion, value in (("right", hard + right[k]), ("long", hard + long[k]))
            ]
    study = make_frames(rows, criteria=("right", "long"), instances=pd.DataFrame(instances))
    found = WeighCriteria(preferred=tuple(preferred))(study)
    right, long = found.criteria
    assert found.overall == "preferred" and found.n == 240 and found.documents == 120
    assert right.criterion == "right" and right.alone.ci_low > 0.4 and abs(float(long.added)) < 0.03
    alone = tuple(pair for pair in preferred if pair[0].endswith("0"))
    assert "no document has two outputs" in WeighCriteria("preferred", preferred=alone)(study).reason
    assert "no document has two outputs" in WeighCriteria("preferred")(study).reason


def test_noise_is_worth_nothing_on_held_out_documents() -> None:
    added = [float(WeighCriteria()(make_study(25, seed)).criteria[-1].added) for seed in range(12)]  # type: ignore[arg-type]
    assert np.mean(added) < 0.005


def test_what_cannot_be_weighed_says_why() -> None:
    assert "Name the criterion" in WeighCriteria("brief")(make_study()).reason  # type: ignore[arg-type]
    assert "10 documents have all scores" in WeighCriteria()(make_study(10)).reason  # type: ignore[arg-type]
    assert "no criterion" in WeighCriteria("clear")(make_frames([])).reason
    rows = [{"annotator": "Ana", "instance": n, "criterion": c, "arm": "blind", "score": 3}
            for n in range(30) for c in CRITERIA]  # fmt: skip
    assert "Every overall score is the same" in WeighCriteria()(make_frames(rows, criteria=CRITERIA)).reason
