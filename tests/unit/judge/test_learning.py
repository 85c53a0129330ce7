"""What a judge learns: baselines, the rule by which a step is kept, maps, juries, and when to ask a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from coeval.domain import Scale
from coeval.errors import InputError
from coeval.extensions.judge.certificate.frozen_judge import compare_dev
from coeval.extensions.judge.certificate.schema import Rival
from coeval.extensions.judge.learning.calibration import Seen, learn_maps
from coeval.extensions.judge.learning.cross_validation import deal, judged_lines, measure
from coeval.extensions.judge.learning.jury import fit_best_judge, fit_jury
from coeval.extensions.judge.learning.learn import Wishes, fit_deferral, learn
from coeval.extensions.judge.learning.prompts import Correction, choose_corrections, make_example
from coeval.extensions.judge.model.fitted import Fitted, Isotonic, Linear, Ordinal
from coeval.extensions.judge.model.labels import Labels
from coeval.llm.prompting.questions import mark_document
from tests.support.studies.simulated_judges import simulate_labels, simulate_lines

QUICK = Wishes(folds=5)
SEEDS = 4
"""Quick looks; ``python -m tests.benchmarks judge_null`` measures the rates."""


def seen_of(labels: Labels) -> Seen:
    return Seen(labels, Fitted().apply(labels.judges))


def test_baselines_say_what_a_judge_has_to_beat() -> None:
    labels = simulate_labels(1, documents=20, second=False)
    lines = judged_lines(labels, Fitted().apply(labels.judges))

    def find_rivals(people: pd.DataFrame) -> dict[str, Rival]:
        part = replace(labels, people=people)
        return {rival.name: rival for rival in compare_dev(part, lines)}

    rivals = find_rivals(labels.people)
    raw = rivals["the judge before learning"]
    assert raw.rmse.value == pytest.approx(np.sqrt(((lines["score"] - lines["human"]) ** 2).mean()))
    assert raw.kendall.value == pytest.approx(kendalltau(lines["score"], lines["human"]).statistic)
    assert raw.rmse == rivals["this judge"].rmse and raw.rmse.clusters == 20
    assert (rivals["a constant"].gain.value or 0) > 0 and rivals["criterion means"].lines == 80
    person = rivals["the best single person"]
    assert person.lines == 80 and 0 < (person.pearson.value or 0) < 1
    alone = find_rivals(labels.people[labels.people["person"] == "P0"])
    assert alone["the best single person"].rmse.reason


def test_folds_are_of_whole_documents() -> None:
    labels = simulate_labels(1, documents=7)
    folds = deal(labels, 3)
    assert sorted(d for fold in folds for d in fold.own.documents) == sorted(labels.documents)
    assert all(not set(fold.own.documents) & set(fold.rest.documents) for fold in folds)
    assert deal(labels.for_documents(["d1"])) == ()


@pytest.mark.slow
def test_a_judge_without_bias_is_left_alone() -> None:
    kept = [learn(simulate_labels(seed), QUICK, "a").kept for seed in range(SEEDS)]
    assert kept == [()] * SEEDS


@pytest.mark.slow
def test_a_bias_by_one_criterion_is_found_and_removed_and_the_others_left() -> None:
    for seed in range(2):
        study = learn(simulate_labels(seed, bias=1, second=False), QUICK, "a")
        assert study.kept == ("calibration",) and study.fitted.calibration
        assert list(study.fitted.calibration.maps) == ["clear"]
        assert study.after.rmse < 0.7 * study.before.rmse
        assert abs((study.lines["score"] - study.lines["human"]).mean()) < 0.15
        told = next(c for c in study.comparisons if c.kept)
        assert told.gain.ci_low > 0 and told.p_value < told.bound and told.criterion == "clear"


def test_few_documents_teach_nothing() -> None:
    study = learn(simulate_labels(0, documents=3, bias=2), QUICK, "a")
    assert study.kept == () and "3 documents" in study.comparisons[0].reason
    with pytest.raises(InputError, match="no judge 'z'; the judges are a, b"):
        learn(simulate_labels(0, documents=3), QUICK, "z")


def ratings(raw: Sequence[float], given: dict[str, Sequence[float]]) -> Labels:
    """Each person's scores of instances that one judge scored, each a document of its own."""
    rows = [
        (f"i{k}", f"i{k}", "", "c", person, score)
        for person, scores in given.items()
        for k, score in enumerate(scores)
        if not np.isnan(score)
    ]
    people = pd.DataFrame(rows, columns=["instance", "document", "system", "criterion", "person", "score"])
    judges = pd.DataFrame({"instance": [f"i{k}" for k in range(len(raw))], "criterion": "c", "judge": "j"})
    return Labels(people, judges.assign(score=list(raw), spread=np.nan), {"c": Scale(1, 5)})


def test_maps_find_the_scale_of_people_and_keep_leniency_apart() -> None:
    rng = np.random.default_rng(3)
    raw = rng.integers(1, 6, 300).astype(float)
    true = np.clip(raw - 1, 1, 5)
    # the lenient person saw what the judge liked: who scored what must not look like the judge's merit
    lenient = np.where((raw >= 4) | (rng.random(300) < 0.3), true + 1, np.nan)
    labels = ratings(raw, {"strict": true, "lenient": lenient})
    for kind, of in (("isotonic", Isotonic), ("ordinal", Ordinal), ("linear", Linear)):
        learned = learn_maps(seen_of(labels), {"c": kind})["c"]
        assert isinstance(learned.map, of)
        gap = learned.leniency["lenient"] - learned.leniency["strict"]
        assert gap > 0.7, kind
        fitted = Fitted.model_validate({"calibration": {"maps": {"c": learned.map.model_dump()}}})
        low, high = (float(fitted.apply(labels.judges)["score"][raw == x].iloc[0]) for x in (2, 5))
        assert 2.2 < high - low < 3.6, kind
    plain = learn_maps(seen_of(ratings(raw[:9], {"one": true[:9]})), {"c": "isotonic"})["c"]
    assert plain.map.kind == "identity"


def test_a_jury_of_independent_judges_is_kept_and_beats_the_best_of_them() -> None:
    labels = simulate_labels(5, documents=60, criteria=("clear",))
    rng = np.random.default_rng(5)
    human = labels.people.groupby("instance")["score"].mean()
    parts = [
        pd.DataFrame({"instance": human.index, "criterion": "clear", "judge": name, "spread": np.nan,
                      "score": np.clip(human.to_numpy() + rng.normal(0, 1, len(human)), 1, 5)})
        for name in "xyz"
    ]  # fmt: skip
    judged = replace(labels, judges=pd.concat(parts, ignore_index=True))
    study = learn(judged, QUICK, "x")
    assert "jury" in study.kept and study.fitted.jury
    assert {m.judge for m in study.fitted.jury.benches["clear"].members} == set("xyz")
    best = measure(judged_lines(judged, Fitted(jury=fit_best_judge(judged)).apply(judged.judges)))
    assert study.after.rmse < best.rmse
    for kind in ("mean", "ridge", "vote"):
        lines = judged_lines(judged, Fitted(jury=fit_jury(judged, kind)).apply(judged.judges))
        assert measure(lines).pearson > best.pearson


@pytest.mark.slow
def test_a_deferral_says_what_it_promises() -> None:
    lines = simulate_lines(np.random.default_rng(2), 300)
    told = fit_deferral(lines, "samples", agreement=0.85, coverage=0.8)
    assert told.agreement and told.agreement == pytest.approx(1 - told.level / told.coverage)
    assert "theorem 1" in told.computed and "300 documents" in told.computed
    none = fit_deferral(lines[:10], "samples", agreement=0.99, coverage=0.5)
    assert none.threshold is None and none.agreement is None and none.coverage == 0
    with pytest.raises(InputError, match="agreement is 1.2"):
        fit_deferral(lines, "samples", agreement=1.2, coverage=0.5)
    study = learn(simulate_labels(3, documents=80, telling=True, second=False), QUICK, "a")
    assert study.kept == ("when to ask a person",) and study.fitted.deferral


def correction(document: int, score: float, drafted: float = 3, **changes: str) -> Correction:
    values = {
        "instance": f"i{document}",
        "document": f"d{document}",
        "criterion": "clear",
        "reason": "",
    } | changes
    return Correction(**values, input="in", output="out", drafted=drafted, score=score)


def test_examples_are_informative_balanced_and_of_other_documents() -> None:
    corrections = [
        correction(1, 5, reason="shines"), correction(2, 5), correction(3, 2), correction(4, 3),
        correction(5, 1), correction(5, 4), correction(6, 1, criterion="true"), correction(1, 4, instance="i9"),
    ]  # fmt: skip
    chosen = [make_example(each, "salt") for each in choose_corrections(corrections, "clear", 3, "salt")]
    # the farthest score first, then one of each; d5's people disagree by more than a step
    assert [x.score for x in chosen] == [5, 2, 3] and chosen[0].reason == "shines"
    assert chosen[0].document == mark_document("d1", "salt") and "d1" not in chosen[0].model_dump_json()
    assert len(choose_corrections(corrections, "clear", 9, "salt")) == 4
