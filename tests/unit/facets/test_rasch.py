"""The ruler: a published example, an independent likelihood, planted severities, and what cannot be measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special

from coeval.extensions.facets.rasch import (
    FacetScores,
    Model,
    fit,
)
from coeval.extensions.facets.ruler import FitRuler, tell_ruler
from coeval.stats.estimates import spell
from tests.benchmarks.parts.labels_cells import RulerDesign
from tests.support.studies.stats_frames import make_frames

KNOWN = json.loads((Path(__file__).parents[2] / "data" / "rasch.json").read_text(encoding="utf-8"))
LSAT, VERBAL = KNOWN["lsat6"], KNOWN["verbal_aggression"]


def test_the_law_school_admission_test() -> None:
    patterns = [[int(c) for c in name] for name, n in LSAT["patterns"].items() for _ in range(n)]
    right = np.array(patterns)
    person, item = (place.ravel() for place in np.indices(right.shape))
    zeros, alone = np.zeros(len(right), dtype=int), np.arange(len(right))
    found = fit(FacetScores(person, item, np.zeros_like(person), right.ravel(), zeros, alone, (2,) * 5, 1, 1))
    spread = found.model.spread(found.free)
    hard = (found.block("criterion")[0] - found.block("system")[0]) / spread
    assert spread == pytest.approx(LSAT["slope"], abs=0.001) == LSAT["girth"]["slope"]
    assert hard == pytest.approx(LSAT["difficulties"], abs=0.005) == LSAT["girth"]["difficulties"]
    _, value = found.model.posterior(found.model.chances(found.free))
    assert value == pytest.approx(LSAT["log_likelihood"], abs=0.01)


@pytest.mark.parametrize("model", ["rating_scale", "partial_credit"])
def test_published_thresholds_of_verbal_aggression(model: str) -> None:
    """Conditional likelihood, unlike ours, assumes nothing of people: estimates may differ by a part of their error."""
    answers = np.array([[int(c) for c in one] for one in VERBAL["answers"]])
    person, item = (place.ravel() for place in np.indices(answers.shape))
    zeros, alone = np.zeros(len(answers), dtype=int), np.arange(len(answers))
    scores = FacetScores(person, item, np.zeros_like(person), answers.ravel(), zeros, alone, (3,) * 12, 1, 1)
    found = fit(scores, partial_credit=model == "partial_credit")
    thresholds = found.model.thresholds(found.free)
    steps = found.block("criterion")[0][:, None] + thresholds
    steps -= steps[0, 0]
    own = (
        np.append(steps[1:, 0], steps[0, 1])
        if model == "rating_scale"
        else np.cumsum(steps, axis=1).ravel()[1:]
    )
    published, errors = np.array(VERBAL[model]), np.array(VERBAL[f"{model}_se"])
    assert own == pytest.approx(published, abs=0.04)
    assert (np.abs(own - published) < 0.12 * errors).all()


def small(partial_credit: bool, drift: bool = False) -> tuple[Model, np.ndarray]:
    scores, _ = RulerDesign(documents=4, systems=2).draw(np.random.default_rng(1))
    model = Model(scores, partial_credit=partial_credit, drift=drift)
    return model, np.random.default_rng(2).normal(0, 0.4, model.size)


@pytest.mark.parametrize("partial_credit", [False, True])
def test_the_likelihood_is_that_of_the_model(partial_credit: bool) -> None:
    """Each instance by numerical integration of the formula itself."""
    model, free = small(partial_credit)
    s, spread = model.scores, model.spread(free)
    system, criterion, rater = (model.full(free, name) for name in ("system", "criterion", "rater"))
    thresholds = model.thresholds(free)
    total = 0.0
    for instance in range(int(s.instance.max()) + 1):
        own = np.flatnonzero(s.instance == instance)

        def density(theta: float, own: np.ndarray = own, instance: int = instance) -> float:
            value = 1.0
            for r in own:
                steps = thresholds[s.criterion[r] if partial_credit else 0]
                logits = np.r_[0, np.cumsum(theta - criterion[s.criterion[r]] - rater[s.rater[r]] - steps)]
                value *= float(special.softmax(logits)[s.category[r]])
            z = (theta - system[s.system[instance]]) / spread
            return value * float(np.exp(-z * z / 2) / np.sqrt(2 * np.pi) / spread)

        middle = system[s.system[instance]]
        total += np.log(
            integrate.quad(density, middle - 8 * spread, middle + 8 * spread, epsabs=0, limit=200)[0]
        )
    assert model.posterior(model.chances(free))[1] == pytest.approx(total, abs=1e-3)


def test_the_slope_is_that_of_the_likelihood() -> None:
    model, free = small(True, drift=True)
    slope = model.loss(free)[1]
    moves = np.eye(model.size) * 1e-5
    numeric = [(model.loss(free + m)[0] - model.loss(free - m)[0]) / 2e-5 for m in moves]
    assert slope == pytest.approx(numeric, abs=1e-5)
    assert model.by_document(free).sum(axis=0) + model._prior(free)[1] == pytest.approx(-slope, abs=1e-8)


def test_planted_severities_are_found() -> None:
    design = RulerDesign(documents=150, systems=2)
    scores, severity = design.draw(np.random.default_rng(7))
    found = fit(scores)
    measures, errors = found.block("rater")
    assert np.abs(measures - severity).max() < 0.15 and (np.abs(measures - severity) < 3 * errors).all()
    infit, outfit = found.fit_of(found.model.rater, len(severity))
    assert infit == pytest.approx(np.ones(len(severity)), abs=0.12)
    assert outfit == pytest.approx(np.ones(len(severity)), abs=0.15)


def make_study(careless: bool = False, drift: float = 0.0, apart: bool = False) -> object:
    """Three people and a judge score two systems; a person may be careless, drift, or share nothing with others."""
    rng = np.random.default_rng(12)
    rows, drafts, instances = [], [], []
    for n in range(60):
        for system, level in (("old", 0.0), ("new", 0.4)):
            name, worth = f"{system}{n}", 3 + level + rng.normal(0, 0.8)
            instances.append({"instance": name, "document": f"d{n}", "system": system})
            for k, (person, harsh) in enumerate((("Ana", 0.0), ("Ben", 0.5), ("Cem", -0.5))):
                if apart and (person == "Cem") != (n % 2 == 0):
                    continue
                own = worth - harsh + rng.normal(0, 0.5) - drift * (person == "Ben") * (n / 59 - 0.5)
                score = rng.integers(1, 6) if careless and person == "Cem" else own
                rows.append({"annotator": person, "instance": name, "arm": "blind", "score": _whole(score),
                             "submitted_at": f"2026-01-{1 + n // 24:02}T{n % 24:02}:0{k}:00.000Z"})  # fmt: skip
            said = worth + rng.normal(0, 0.5)
            if not apart:
                drafts.append({"instance": name, "criterion": "clear", "score": _whole(said)})
    return make_frames(rows, drafts, instances=pd.DataFrame(instances))


def _whole(value: float) -> float:
    return float(np.clip(np.rint(value), 1, 5))


def test_fair_means_undo_who_scored_what() -> None:
    found = FitRuler()(make_study())  # type: ignore[arg-type]
    new, old = found.systems
    assert new.name == "new" and float(new.fair) - float(old.fair) == pytest.approx(0.5, abs=0.25)
    assert [rater.name for rater in found.raters] == ["Ana", "Ben", "Cem", "judge (judge)"]
    severity = [float(rater.measure) for rater in found.raters]
    assert severity[1] > 0.5 > 0 > severity[2] and sum(severity[:3]) == pytest.approx(0, abs=1e-9)
    assert dict(found.separation)["people"].reliability > 0.9
    assert all(effect.p_holm > 0.05 for effect in found.drift)
    written = spell(found)
    assert (
        written["raters"][0]["measure"]["ci_low"] < severity[0] < written["raters"][0]["measure"]["ci_high"]
    )
    assert any("Separation reliability" in line for line in tell_ruler(found))


def test_a_person_who_becomes_harsher_is_found_out() -> None:
    found = FitRuler()(make_study(drift=1.6))  # type: ignore[arg-type]
    ben = next(one for one in found.drift if one.name == "Ben")
    assert float(ben.value) > 1.5 and ben.p_holm < 0.01
    assert all(one.p_holm > 0.05 for one in found.drift if one.name == "Ana")


def test_a_careless_person_misfits() -> None:
    found = FitRuler()(make_study(careless=True))  # type: ignore[arg-type]
    misfits = {rater.name: rater.outfit for rater in found.raters}
    assert misfits["Cem"] > 1.5 > 1.2 > max(misfits["Ana"], misfits["Ben"])


def test_parts_that_share_nothing_are_told() -> None:
    found = FitRuler()(make_study(apart=True))  # type: ignore[arg-type]
    assert (
        set(found.parts) == {("Ana", "Ben"), ("Cem",)} and "assigned to the parts at random" in found.notes[0]
    )


def test_what_cannot_be_measured_says_why() -> None:
    assert "Nobody has scored" in FitRuler()(make_frames([])).reason
    rows = [{"annotator": "Ana", "instance": n, "score": 3} for n in range(9)]
    assert "Only one rater" in FitRuler()(make_frames(rows)).reason
    both = [*rows, *({**row, "annotator": "Ben"} for row in rows)]
    assert "Every score of a criterion is the same" in FitRuler()(make_frames(both)).reason
    assert (
        "4 documents are too few"
        in FitRuler()(make_frames([row for row in both if row["instance"] < 4])).reason
    )  # type: ignore[operator]
