"""The report: names that scripts depend on, JSON without nan, reasons in notes, tables that hold any text."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coeval.domain import Arm
from coeval.stats import (
    Table,
    build_report,
    krippendorff_alpha,
    methods_paragraph,
    paper_tables,
    tables_latex,
    tables_markdown,
)
from coeval.stats.frames import StudyFrames
from coeval.stats.report.model_vs_people import choose_labels
from coeval.stats.report.systems import compare_pairs
from tests.support.studies.stats_frames import make_frames, simulate_frames


@pytest.fixture(scope="module")
def study() -> StudyFrames:
    return simulate_frames()


@pytest.fixture(scope="module")
def report(study: StudyFrames) -> dict[str, Any]:
    return build_report(study)


def test_pairs_of_systems_are_tested_as_one_family() -> None:
    """a and b differ by 2, 1, 2, 1: mean 1.5, se sqrt(1/12), t 5.196 of 3, p .0138; of three pairs, twice that."""
    a, b, c = [3.0, 3, 3, 3], [1.0, 2, 1, 2], [3.0, 2, 3, 4]
    sums = np.column_stack([part for scores in (a, b, c) for part in (scores, np.ones(4))])
    found = compare_pairs(sums, "documents")
    first, second, third = found[0, 1], found[0, 2], found[1, 2]
    assert first.p_value == pytest.approx(3 * 0.01385, abs=1e-4)
    assert second.p_value == 1 and third.p_value > first.p_value
    # t of 3 degrees of freedom is 3.182 at 95%: 1.5 -+ 3.182 sqrt(1/12)
    assert first == 1.5 and first.ci == pytest.approx((1.5 - 0.9186, 1.5 + 0.9186), abs=1e-3)
    # documents of other systems alone change neither the difference nor its interval
    others = np.zeros((6, 6))
    others[:, 4:] = 4, 1
    again = compare_pairs(np.vstack([sums, others]), "documents")[0, 1]
    assert again == first and again.ci == pytest.approx(first.ci) and again.details["clusters"] == 4


def test_the_report_is_the_same_each_time(study: StudyFrames, report: dict[str, Any]) -> None:
    assert build_report(study) == report


def test_agreement_is_alpha_of_the_pivoted_scores(study: StudyFrames, report: dict[str, Any]) -> None:
    table = study.scores.pivot(index="annotator", columns=["instance", "criterion"], values="score")
    llm = study.drafts[study.drafts["shown"]].set_index(["instance", "criterion"])["score"]
    genuine = study.scores[
        ~study.scores["planted_score"]
    ]  # beside the model, nothing counts that was shown a wrong score
    beside = genuine.pivot(index="annotator", columns=["instance", "criterion"], values="score")
    joined = pd.concat([beside, llm.to_frame("llm").T])
    for level in ("nominal", "ordinal", "interval"):
        found = report["agreement"]
        assert found["humans"][level] == pytest.approx(krippendorff_alpha(table, level))
        assert found["humans_and_llm"][level] == pytest.approx(krippendorff_alpha(joined, level))
        first = next(row for row in found["pairwise"] if {row["a"], row["b"]} == {"p0", "llm"})
        assert first[level] == pytest.approx(krippendorff_alpha(joined.loc[["p0", "llm"]], level))
        one = found["per_criterion"][1]
        wanted = krippendorff_alpha(table.xs("true", axis=1, level="criterion"), level)
        assert one["criterion"] == "true" and one["humans"][level] == pytest.approx(wanted)


def test_no_interval_of_the_report_rests_on_more_than_its_documents(
    study: StudyFrames, report: dict[str, Any]
) -> None:
    """A document's instances and criteria are one cluster: units counted one by one would be six times as many."""
    documents = study.instances["document"].nunique()
    assert len(study.instances) == 3 * documents
    found = dict(list_all(report, "clusters"))
    assert {path: n for path, n in found.items() if n > documents} == {}
    kinds = dict(list_all([report["agreement"], report["alignment"]], "interval_kind"))
    assert {path: kind for path, kind in kinds.items() if "over documents" not in kind} == {}
    assert {"0/icc/ICC(2,1)", "1/comparisons/0/gap"} <= kinds.keys()
    for path in ("intervals/humans/ordinal", "ac2", "fleiss", "percent"):
        assert found[f"agreement/{path}"] == documents
    assert len(found) > 50


def list_all(part: Any, wanted: str, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of that name in a report, with the names that lead to it."""
    if isinstance(part, dict) and part.get(wanted) is not None:
        yield path, part[wanted]
    members = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for name, member in members:
        yield from list_all(member, wanted, f"{path}/{name}".strip("/"))


def test_parts_of_the_agreement(study: StudyFrames, report: dict[str, Any]) -> None:
    agreement = report["agreement"]
    assert [part["arm"] for part in agreement["by_arm"]] == ["assisted", "blind"]
    assert {part["group"] for part in agreement["by_group"]} == {"team", "crowd"}
    assert {part["system"] for part in agreement["by_system"]} == {"s0", "s1", "s2"}
    crowd = study.scores[study.scores["group"] == "crowd"]
    table = crowd.pivot(index="annotator", columns=["instance", "criterion"], values="score")
    found = next(part for part in agreement["by_group"] if part["group"] == "crowd")
    assert found["humans"]["ordinal"] == pytest.approx(krippendorff_alpha(table))
    ac2 = agreement["ac2"]
    assert ac2["ci_low"] < ac2["value"] < ac2["ci_high"]


def test_every_arm_has_its_line(study: StudyFrames) -> None:
    arms = [arm for arm in Arm for _ in range(len(study.scores) // len(Arm) + 1)][: len(study.scores)]
    parts = build_report(dataclasses.replace(study, scores=study.scores.assign(arm=arms)))["agreement"][
        "by_arm"
    ]
    assert sorted(part["arm"] for part in parts) == sorted(Arm)


def test_only_blind_labels_judge_the_judges(study: StudyFrames, report: dict[str, Any]) -> None:
    alignment = report["alignment"]
    assert (alignment["labels"], alignment["leaned"]) == ("blind", False)
    blind = study.scores[study.scores["arm"] == "blind"]
    assert alignment["n_labels"] == len(blind)
    means = blind.groupby(["instance", "criterion"])["score"].mean()
    judge = study.drafts[study.drafts["run"] == 1].set_index(["instance", "criterion"])["score"]
    wanted = np.corrcoef(means, judge[means.index])[0, 1]
    assert alignment["runs"][1]["correlations"]["dataset"]["pearson"] == pytest.approx(wanted)
    assert alignment["runs"][0]["alt_test"]["p_values"]
    assert len(alignment["comparisons"]) == 2  # one pair of runs by two criteria


@pytest.mark.slow
def test_without_a_blind_arm_the_alt_test_is_refused(study: StudyFrames) -> None:
    assisted = dataclasses.replace(study, scores=study.scores[study.scores["arm"] == "assisted"])
    assert choose_labels(assisted).leaned
    document = build_report(assisted)
    assert document["alignment"]["runs"][0]["alt_test"]["winning_rate"] is None
    assert any("draft in view" in note and "alt_test" in note for note in document["notes"])


def test_imported_ratings_are_labels_without_a_draft() -> None:
    """People of different number from item to item, two judges, nothing shown: nothing is called llm."""
    rng = np.random.default_rng(0)
    rows, drafts = [], []
    for item in range(80):
        truth = rng.normal(3, 1)
        for person in rng.choice(5, size=3 if item % 2 else 5, replace=False):
            score = float(np.clip(round(truth + rng.normal(0, 0.6)), 1, 5))
            rows.append({"annotator": f"p{person}", "instance": f"i{item}", "arm": "blind", "score": score})
        for run in (1, 2):
            drafts.append(
                {"run": run, "run_label": f"j{run}", "shown": False, "instance": f"i{item}"}
                | {"score": truth + rng.normal(0, run / 2), "spread": 0.2}
            )
    document = build_report(make_frames(rows, drafts))
    assert not any(row["b"] == "llm" for row in document["agreement"]["pairwise"])
    assert any("None of the 2 runs is the shown one" in note for note in document["notes"])
    first = document["alignment"]["runs"][0]
    assert first["alt_test"]["winning_rate"] is not None
    assert document["alignment"]["comparisons"][0]["williams"]["t"] > 0


def test_empty_studies_report_nulls_with_reasons() -> None:
    for nothing in (make_frames(), make_frames(criteria=())):
        document = build_report(nothing)
        json.dumps(document, allow_nan=False)
        assert document["agreement"]["humans"] == {"nominal": None, "ordinal": None, "interval": None}
        assert document["units"] == document["score_change"]["n"] == 0
        assert any("No unit has ratings by two" in note for note in document["notes"])
        assert methods_paragraph(nothing, document).startswith("0 annotators")
        assert tables_markdown(paper_tables(nothing))


def test_one_constant_criterion_is_null_and_named() -> None:
    rows = [
        {
            "annotator": name,
            "instance": i,
            "criterion": criterion,
            "score": 4.0 if criterion == "dull" else i % 5 + 1,
        }
        for i in range(10)
        for name in "ab"
        for criterion in ("dull", "clear")
    ]
    document = build_report(make_frames(rows, criteria=("dull", "clear")))
    dull, clear = document["agreement"]["per_criterion"]
    assert dull["humans"]["ordinal"] is None and clear["humans"]["ordinal"] == 1
    assert any("[dull]" in note and "Every paired rating is the same" in note for note in document["notes"])


@pytest.mark.slow
def test_missing_scores_unscored_drafts_and_mixed_scales_are_noted(study: StudyFrames) -> None:
    scores, drafts = study.scores.copy(), study.drafts.copy()
    scores.loc[:4, "score"] = np.nan
    drafts.loc[:2, "score"] = np.nan
    holed = dataclasses.replace(study, scores=scores, drafts=drafts, scales={"clear": (1, 5), "true": (0, 1)})
    notes = " ".join(build_report(holed)["notes"])
    assert "5 submissions without a score" in notes and "3 of 240 drafts have no score" in notes
    assert "different scales" in notes
    assert "Left out: 5 submissions without a score and 3 drafts" in methods_paragraph(
        holed, build_report(holed)
    )


def test_frames_name_what_they_lack(study: StudyFrames) -> None:
    with pytest.raises(ValueError, match="scores table lacks the column 'arm'"):
        dataclasses.replace(study, scores=study.scores.drop(columns="arm"))
    with pytest.raises(ValueError, match="named twice"):
        dataclasses.replace(study, criteria=["clear", "clear"])
    stray = dataclasses.replace(study, criteria=["clear"])
    with pytest.raises(ValueError, match="'true' is scored but not among the criteria"):
        build_report(stray)


def test_the_papers_tables(study: StudyFrames, report: dict[str, Any]) -> None:
    tables = {table.name: table.frame for table in paper_tables(study)}
    assert set(tables) >= {
        "evaluation_actions",
        "score_changes",
        "agreement",
        "pairwise",
        "time",
        "time_per_sample",
        "pairwise_correlations",
        "distributions",
        "distributions_by_criterion",
        "systems",
        "judges",
        "coefficients",
        "judges_compared",
        "system_differences",
    }
    assert tables["against_majority"]["n"].sum() == tables["against_majority"]["of"].iloc[0] > 0
    assert (
        tables["agreement"].set_index("part").loc["all criteria", "ordinal"]
        == report["agreement"]["humans"]["ordinal"]
    )
    people = tables["distributions"].query("source == 'people' and system == 'all'").iloc[0]
    assert people[["1", "2", "3", "4", "5"]].sum() == people["n"] == len(study.scores)


@pytest.mark.parametrize("criteria", [("clear",), ("clear", "true")])
def test_a_table_tells_cells_that_do_not_apply_from_undefined_figures(criteria: tuple[str, ...]) -> None:
    rows = [
        {"annotator": who, "instance": f"i{n}", "criterion": criterion, "score": 1 + (n + place) % 5}
        for n in range(12)
        for place, who in enumerate("ab")
        for criterion in criteria
    ]
    study = make_frames(rows, criteria=criteria)
    agreement = next(table.frame for table in paper_tables(study) if table.name == "agreement")
    means = agreement[agreement["part"].str.startswith("mean over criteria")]
    # the mean of one criterion repeats its line
    assert len(means) == len(criteria) - 1
    assert all(
        row["nominal"] is None and row["ordinal"] == row["ordinal"] for row in means.to_dict("records")
    )


@pytest.mark.parametrize("drafted", [False, True])
def test_agreement_with_a_model_needs_a_model(drafted: bool) -> None:
    """Without a draft, the rows of the model repeated the figures of people."""
    scores = [
        {"annotator": who, "instance": n, "criterion": "clear", "score": n} for who in "ab" for n in (1, 2)
    ]
    drafts = [{"instance": n, "criterion": "clear", "score": n} for n in (1, 2)] if drafted else []
    tables = {table.name: table.frame for table in paper_tables(make_frames(scores, drafts))}
    named = tables["coefficients"]["coefficient"]
    assert named.str.contains("alpha, ordinal").any()
    assert named.str.contains("with the model").any() == drafted


VOTES = [
    (1, "crowd", "approve", "revise", "delete", "add"),
    (2, "expert", "approve", "revise", "revise"),
    (3, "expert", "approve", "approve", "delete"),
]
"""The ballots of three people on three proposals; the first adds a criterion."""


def test_votes_by_group_with_the_agreement_of_the_voters(study: StudyFrames) -> None:
    """Pairs of voters agree on the proposals in 3, 1 and 1 of 3 pairs: .5556. Expected by chance from the values 4, 3
    and 2: (4*3 + 3*2 + 2*1) / (9*8) = .2778, so nominal alpha is 1 - .4444 / .7222 = .3846."""
    rows = [
        (2, who, group, None if action == "add" else place, action)
        for who, group, *actions in VOTES
        for place, action in enumerate(actions)
    ]
    votes = pd.DataFrame(rows, columns=["version", "annotator", "group", "proposal", "action"])
    voted = dataclasses.replace(study, votes=votes, version=2, drafted_criteria=["clear"])
    table = next(one for one in paper_tables(voted) if one.name == "criteria_actions")
    assert table.frame[["voters", "people", "n"]].values.tolist() == [
        ["all", 3, 10],
        ["crowd", 1, 4],
        ["expert", 2, 6],
    ]
    assert table.frame["approve"].tolist() == pytest.approx([4 / 10, 1 / 4, 3 / 6])
    assert table.frame["percent"][0] == pytest.approx(5 / 9)
    assert table.frame["alpha"][0] == pytest.approx(1 - (4 / 9) / (13 / 18))
    # the two experts agree on one of three: values 3, 2 and 1, expected (3*2 + 2*1) / 30
    assert table.frame["alpha"][2] == pytest.approx(1 - (2 / 3) / (22 / 30))
    assert "worded 50% of 2 final criteria" in table.note
    report = build_report(voted)
    assert report["votes"]["everybody"]["alpha"]["value"] == pytest.approx(5 / 13)
    assert report["votes"]["on_this_version"] == 3 and report["votes"]["worded_by_model"] == 0.5
    assert "3 people voted on the criteria; the model worded 50% of them." in methods_paragraph(voted, report)
    before = dataclasses.replace(voted, version=3)
    assert "set without a vote" in methods_paragraph(before, build_report(before))


def test_pairs_of_one_person_with_and_one_without_the_draft() -> None:
    """a and b saw the draft, c did not: the pairs are a and c (r = 1) and b and c (r = -1)."""
    rows = [
        {"annotator": who, "instance": f"i{k}", "score": score, "arm": "blind" if who == "c" else "assisted"}
        for who, scores in (("a", (1, 2, 3)), ("b", (3, 2, 1)), ("c", (2, 3, 4)))
        for k, score in enumerate(scores)
    ]
    means = build_report(make_frames(rows))["alignment"]["mean_pairwise_correlations"]
    assert means["people_assisted_blind"]["n_pairs"] == 2
    assert means["people_assisted_blind"]["pearson"] == pytest.approx(0)
    assert means["people_assisted"]["pearson"] == pytest.approx(-1)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=30))
def test_no_text_breaks_a_table(text: str) -> None:
    table = Table(text, text, text, pd.DataFrame({"a": [text, "x"], "b": [0.25, None]}))
    lines = tables_markdown([table]).split("\n")
    rows = [line for line in lines if line.startswith("| ")]
    assert len(rows) == 3
    for row in rows:
        assert row.replace("\\\\", "").replace("\\|", "").count("|") == 3
    latex = tables_latex([table]).replace(r"\\", "").replace(r"\&", "")
    body = latex.split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert body.count("&") == 2
    cleaned = (
        body.replace(r"\{", "").replace(r"\}", "").replace(r"\%", "").replace(r"\$", "").replace(r"\#", "")
    )
    assert not set("%$#") & set(cleaned) and cleaned.count("{") == cleaned.count("}")


def test_a_judge_stands_in_by_the_criteria_that_allow_it_and_not_by_the_pool() -> None:
    """The model says what people say by two criteria and is far off by the third; pooled it would pass."""
    criteria = ("clear", "true", "kind")
    truth = {(n, c): 1 + (n + k) % 5 for n in range(80) for k, c in enumerate(criteria)}
    rng = np.random.default_rng(2)
    rows = [
        {"annotator": who, "instance": f"i{n}", "criterion": c, "arm": "blind", "score": score}
        for who in "abc"
        for (n, c), value in truth.items()
        for score in [int(np.clip(value + rng.integers(-1, 2), 1, 5))]
    ]
    drafts = [
        {"instance": f"i{n}", "criterion": c, "score": 6 - value if c == "kind" else value}
        for (n, c), value in truth.items()
    ]
    frames = make_frames(rows, drafts, criteria=criteria)
    document = build_report(frames)
    run = document["alignment"]["runs"][0]
    assert run["alt_test"]["passed"] and run["alt_test_criteria"] == {"passed": 2, "tested": 3}
    p = [part["alt_test_p_holm"] for part in run["per_criterion"]]
    assert p[0] <= 0.05 and p[1] <= 0.05 and p[2] == 1
    told = methods_paragraph(frames, document)
    assert "may replace a person on 2 of 3 criteria" in told and "Holm" in told
    assert "3 people, each over 80 items in 80 independent clusters" in told and "one-sided t-test" in told
