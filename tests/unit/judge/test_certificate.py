"""The certificate: its figures are those of the definitions, and its sentences say what does the judge no honour."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from coeval.domain import Scale
from coeval.errors import InputError
from coeval.extensions.judge.certificate.figures import Facts, hash_table, write_certificate
from coeval.extensions.judge.certificate.html_page import render_page
from coeval.extensions.judge.certificate.schema import Certificate
from coeval.extensions.judge.model.labels import Labels

FACTS = Facts(
    made_at="2026-01-31T09:30:00.000Z", task="A <b>task</b>", judge="the judge", judge_hash="a" * 64, models=("m",),
    prompts=("b" * 64,), steps=(), arms="blind", leaned=False, opening=1, earlier=(), share=0.5,
    sealed_at="2026-01-30T09:30:00.000Z", dev_documents=40, sealed_documents=40, code="0.1.0",
)  # fmt: skip
CRITERIA = ("Be <i>true</i>.", "Be brief.")


def make_labels(names: range, *, skill: float, bias: float = 0.0, seed: int = 1) -> Labels:
    """Documents by two systems and two criteria, scored by three people, and by a judge that is right by ``skill``."""
    draw = np.random.default_rng([seed, names.start])
    people, judges = [], []
    for document in names:
        for system in ("first", "second"):
            instance = f"{document}{system}"
            for criterion in CRITERIA:
                true = draw.uniform(1, 5)
                for person in ("1", "2", "3"):
                    given = float(np.clip(round(true + draw.normal(0, 0.5)), 1, 5))
                    people.append((instance, f"d{document}", system, criterion, person, given))
                said = float(np.clip(round(skill * true + (1 - skill) * draw.uniform(1, 5) + bias), 1, 5))
                judges.append((instance, criterion, "m", said, np.nan))
    return Labels(
        pd.DataFrame(people, columns=["instance", "document", "system", "criterion", "person", "score"]),
        pd.DataFrame(judges, columns=["instance", "criterion", "judge", "score", "spread"]),
        {criterion: Scale() for criterion in CRITERIA},
    )


def certify(
    facts: Facts = FACTS, *, skill: float = 1.0, bias: float = 0.0, documents: int = 40
) -> Certificate:
    dev = make_labels(range(100, 140), skill=skill, bias=bias)
    sealed = make_labels(range(documents), skill=skill, bias=bias)
    return write_certificate(facts, dev, sealed, sealed.judges, {"m": sealed.judges})


@pytest.fixture(scope="module")
def good() -> Certificate:
    return certify()


def test_figures_are_those_of_the_definitions(good: Certificate) -> None:
    sealed = make_labels(range(40), skill=1.0)
    means = sealed.people.groupby(["instance", "criterion"])["score"].mean()
    judge = sealed.judges.set_index(["instance", "criterion"])["score"].loc[means.index]
    own = good.get_rival("this judge")
    assert own and own.rmse.value == pytest.approx(float(np.sqrt(((judge - means) ** 2).mean())))
    assert (
        own.rmse.low
        and own.rmse.high
        and own.rmse.low < own.rmse.value < own.rmse.high
        and own.rmse.clusters == 40
    )
    constant = good.get_rival("a constant")
    overall = make_labels(range(100, 140), skill=1.0).people["score"].mean()
    assert constant and constant.rmse.value == pytest.approx(float(np.sqrt(((means - overall) ** 2).mean())))
    assert constant.gain.value == pytest.approx(constant.rmse.value**2 - own.rmse.value**2)
    level = next(level for level in good.levels if level.level == "dataset")
    by = [
        pd.DataFrame({"j": judge, "p": means}).xs(name, level="criterion").corr().iloc[0, 1]
        for name in CRITERIA
    ]
    assert level.pearson.value == pytest.approx(float(np.mean(by))) and level.criteria == 2
    assert good.by_system[0].name == "first" and good.by_system[0].lines == 80
    assert (
        good.split.used == 40
        and good.split.outputs == 80
        and good.split.lines == 160
        and good.split.unread == 0
    )
    assert sum(one.lines for one in good.calibration) == 160 == sum(one.lines for one in good.by_score)
    assert [one.equivalence.margin for one in good.by_criterion] == [0.5, 0.5]
    assert (
        good.hashes.labels
        == hash_table(sealed.people.sample(frac=1, random_state=1))
        != hash_table(sealed.judges)
    )


def test_a_good_judge_passes_and_a_useless_one_is_told_that_a_constant_does_as_well(
    good: Certificate,
) -> None:
    assert good.alt_test.passed and "may stand in for one of these people" in " ".join(good.findings)
    assert "closer to people's scores than a constant and than each criterion's mean" in " ".join(
        good.findings
    )
    assert all(one.equivalence.equivalent for one in good.by_criterion)
    useless = certify(skill=0.0)
    told = " ".join(useless.findings)
    assert useless.alt_test.passed is False and "may not stand in" in told
    assert (
        "A constant and each criterion's mean are at least as close to people's scores as this judge" in told
    )
    limits = " ".join(useless.limits)
    assert "not shown to tell better outputs from worse on “Be <i>true</i>.” and “Be brief.”" in limits
    assert "people's mean on the dev part is at least as close to people as the judge" in limits


def test_a_bias_is_found_by_criterion_and_system() -> None:
    lenient = certify(skill=0.6, bias=1.0)
    assert all(
        one.equivalence.bias.value and one.equivalence.bias.value > 0.5 for one in lenient.by_criterion
    )
    assert not any(one.equivalence.equivalent for one in lenient.by_criterion)
    assert any("correct its means before you compare systems" in limit for limit in lenient.limits)


def test_a_calibration_that_hides_the_judge_is_named() -> None:
    dev, sealed = (make_labels(names, skill=1.0) for names in (range(100, 140), range(40)))
    first = sealed.judges["criterion"] == CRITERIA[0]
    flat = sealed.judges.assign(
        raw=sealed.judges["score"],
        score=sealed.judges["score"].where(~first, 3 + 0.001 * sealed.judges["score"]),
    )
    found = write_certificate(FACTS, dev, sealed, flat, {"m": sealed.judges})
    assert [one.slope is not None for one in found.by_criterion] == [True, False]
    said = f"The calibrated score on “{CRITERIA[0]}” does not follow the judge: it moves by +0.001"
    assert [said in limit for limit in found.limits].count(True) == 1


def test_it_says_how_often_a_verdict_changes_between_runs(good: Certificate) -> None:
    assert "the rate of changed verdicts between runs" in " ".join(good.findings)
    dev, sealed = (make_labels(names, skill=1.0) for names in (range(100, 140), range(40)))
    keys = list(zip(sealed.judges["instance"], sealed.judges["criterion"], strict=True))
    number = {name: int(re.split("[fs]", name)[0]) for name, _ in keys}
    # by the first criterion one document in four is 3 as often as 4
    samples = [
        (3.0, 4.0) if criterion == CRITERIA[0] and number[name] % 4 == 0 else (5.0, 5.0)
        for name, criterion in keys
    ]
    answers = pd.Series(samples, pd.MultiIndex.from_tuples(keys), dtype=object)
    found = write_certificate(FACTS, dev, sealed, sealed.judges, {"m": sealed.judges}, answers)
    first, second = found.by_criterion
    assert [flip.threshold for flip in first.flips] == [2.0, 3.0, 4.0, 5.0]
    assert [flip.share.value for flip in first.flips] == [0, 0, 0.25, 0]
    assert (first.flips[2].lines, first.flips[2].answers, first.flips[2].share.clusters) == (80, 2.0, 40)
    assert first.flips[2].share.low and first.flips[2].share.low < 0.25 < (first.flips[2].share.high or 0)
    assert all(flip.share.value == 0 and (flip.share.high or 0) > 0.05 for flip in second.flips)
    (said,) = (one for one in found.findings if "Asked again" in one)
    assert f"on “{CRITERIA[0]}”, at the threshold 4: on 25.0% (1" in said and "80 unchanged outputs" in said
    assert "at least 4</td><td>25.0% (1" in render_page(found)
    assert "Verdicts that change" not in render_page(good)


def test_what_cannot_be_computed_is_said_and_what_proves_nothing_is_refused() -> None:
    dev, sealed = make_labels(range(100, 140), skill=1.0), make_labels(range(3), skill=1.0)
    alone = Labels(sealed.people[sealed.people["person"] == "1"], sealed.judges, sealed.scales)
    found = write_certificate(FACTS, dev, alone, alone.judges.assign(score=3.0), {})
    told = " ".join(found.findings)
    assert "was not possible" in told and "Correlations with people are undefined" in told
    assert "nobody's lines were scored by others" in told and len(found.calibration) == 1
    assert "undefined" in render_page(found)
    nothing = sealed.judges.assign(score=np.nan)
    with pytest.raises(InputError, match="No sealed line has scores from both"):
        write_certificate(FACTS, dev, sealed, nothing, {})
    with pytest.raises(InputError, match="in both parts"):
        write_certificate(FACTS, sealed, sealed, sealed.judges, {})


def test_the_file_comes_back_whole_and_the_page_stands_alone(good: Certificate) -> None:
    text = good.model_dump_json()
    assert Certificate.model_validate_json(text) == good and json.loads(text)["kind"] == "coeval-certificate"
    page = render_page(good)

    class Reader(HTMLParser):
        tags: list[tuple[str, dict[str, str | None]]] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.tags.append((tag, dict(attrs)))

    reader = Reader()
    reader.feed(page)
    tags = {tag for tag, _ in reader.tags}
    assert not tags & {"script", "link", "img", "iframe", "form", "b", "i"} and {"svg", "table", "h1"} <= tags
    assert not any(name in ("src", "href", "onload") for _, attributes in reader.tags for name in attributes)
    assert "A &lt;b&gt;task&lt;/b&gt;" in page and "http" not in page
    for sentence in (*good.findings[:3], good.limits[-1]):
        assert sentence in page.replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">")
