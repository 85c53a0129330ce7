"""Every published or independently computed example, each to its tolerance."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coeval import stats
from coeval.stats.agreement.two_raters import pair_tables
from coeval.stats.rating_matrix import parse_ratings
from tests.conftest import SHARED
from tests.support.studies.alt_labels import alt_test

Entry = dict[str, Any]
FILE = Path(__file__).parents[2] / "data" / "known_answers.json"
ENTRIES: list[Entry] = json.loads(FILE.read_text(encoding="utf-8"))


def columns(inputs: Entry) -> list[list[Any]]:
    """The ratings as annotators x units."""
    return [list(row) for row in zip(*inputs["ratings_units_x_raters"], strict=True)]


def alphas(inputs: Entry, folder: Path) -> Entry:
    ratings = inputs["ratings_raters_x_units"]
    return {
        f"alpha_{level}": stats.krippendorff_alpha(ratings, level=level)
        for level in ("nominal", "ordinal", "interval")
    }


def coefficients(inputs: Entry, folder: Path) -> Entry:
    ratings, weights = columns(inputs), inputs["weights"]
    found = {
        "gwet": stats.gwet_ac(ratings, weights=weights),
        "fleiss": stats.fleiss_kappa(ratings, weights=weights),
    }
    names = {"coef": "value", "pa": "pa", "pe": "pe"}
    return {f"{name}_{key}": e[own] for name, e in found.items() for key, own in names.items()}


def forms_of_icc(inputs: Entry, folder: Path) -> Entry:
    return {**stats.icc(columns(inputs))}


def fleiss(inputs: Entry, folder: Path) -> Entry:
    ratings = columns(inputs)
    return {
        "fleiss": stats.fleiss_kappa(ratings),
        "alpha_nominal": stats.krippendorff_alpha(ratings, "nominal"),
    }


def cohen(inputs: Entry, folder: Path) -> Entry:
    """The labels of a table of shares, which makes whole counts of n units."""
    counts = np.rint(np.array(inputs["proportions"]) * inputs["n"]).astype(int)
    first, second = np.repeat(np.argwhere(counts >= 0), counts.ravel(), axis=0).T
    (block,) = pair_tables(parse_ratings(np.array([first, second], dtype=float)))
    return {"kappa": block.kappas("identity")[0]}


def williams(inputs: Entry, folder: Path) -> Entry:
    found = stats.williams_test(inputs["r12"], inputs["r13"], inputs["r23"], inputs["n"])
    return {"t": found.t, "p": found.p_two_sided}


def kendall(inputs: Entry, folder: Path) -> Entry:
    found = stats.correlations(inputs["x"], inputs["y"]).dataset
    return {"tau_b": found.kendall, "p": found.kendall.p_value, "spearman": found.spearman}


def alternative(inputs: Entry, folder: Path) -> Entry:
    if "files" in inputs:
        base = folder / "alttest" / inputs["dataset"]
        people = json.loads((base / "human_annotations.json").read_text(encoding="utf-8"))
        model = json.loads((base / "llm_annotations.json").read_text(encoding="utf-8"))[inputs["llm"]]
    else:
        people, model = inputs["humans"], inputs["llm"]
    found = alt_test(model, people, inputs["epsilon"])
    return {
        "winning_rate": found.winning_rate,
        "advantage_prob": found.advantage_probability,
        "p_values": found.p_values,
    }


def levels(inputs: Entry, folder: Path) -> Entry:
    human, model = np.array(inputs["human"]), np.array(inputs["llm"])
    document, system = np.indices(human.shape)
    found = stats.correlations(human.ravel(), model.ravel(), document.ravel(), system.ravel())
    return {
        "dataset_pooled": found.dataset.kendall,
        "document_mean": found.document.kendall,
        "system_level": found.system.kendall,
        "dataset_spearman": found.dataset.spearman,
        "document_spearman": found.document.spearman,
    }


RUNS: dict[str, Callable[[Entry, Path], Entry]] = {
    "ratings_raters_x_units": alphas,
    "weights": coefficients,
    "proportions": cohen,
    "r12": williams,
    "epsilon": alternative,
    "rows": levels,
    "x": kendall,
}
"""How to compute an entry, by an input that only its family has."""


def run(entry: Entry, folder: Path) -> Entry:
    inputs = entry["inputs"]
    by_input = next((RUNS[name] for name in RUNS if name in inputs), None)
    by_name = {"ShroutFleiss1979": forms_of_icc, "Fleiss1971_diagnoses": fleiss}
    return (by_input or by_name[entry["id"]])(inputs, folder)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_known_answer(entry: Entry) -> None:
    if "files" in entry["inputs"] and not SHARED.is_dir():
        pytest.skip("the published annotations (../shared/data/alttest) are not here")
    found = run(entry, SHARED)
    tolerance = entry["tolerance"]
    compared = 0
    for source in ("expected_published", "expected_full_precision"):
        for name, wanted in entry[source].items():
            if name in found:
                assert np.allclose(np.ravel(found[name]), np.ravel(wanted), rtol=0, atol=tolerance), name
                compared += 1
    skipped = {name for name in entry["expected_full_precision"] if name not in found}
    assert compared and skipped <= {"tau_c"}, skipped  # tau-c is no statistic of ours


def test_the_examples_are_all_here() -> None:
    assert len(ENTRIES) == 44


def test_topical_chat_correlations(shared_data: Path) -> None:
    """All levels of every protocol equal the reference; its means are rounded to 6 digits in the file."""
    import pandas as pd

    folder = shared_data / "topical_chat"
    people = pd.read_csv(folder / "human_ratings.csv").groupby(["criterion", "instance"])["score"].mean()
    judges = pd.read_csv(folder / "llm_ratings.csv")
    instances = pd.read_csv(folder / "instances.csv").set_index("instance")
    reference = json.loads((folder / "reference.json").read_text(encoding="utf-8"))["correlations"]
    names = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall"}
    for key, wanted in reference.items():
        criterion, mode = key.split("/")
        scores = judges[(judges["criterion"] == criterion) & (judges["mode"] == mode)]
        table = instances.assign(h=people[criterion], m=scores.set_index("instance")["mean_score"])
        found = stats.correlations(table["h"], table["m"], table["document"], table["system"])
        for name in names:
            first = "kendall_b_m1" if name == "kendall" else f"{name}_m1"
            assert getattr(found.dataset, name) == pytest.approx(wanted[first], abs=1e-6), key
            assert getattr(found.document, name) == pytest.approx(wanted[f"{name}_m2"], abs=1e-6), key
        counted = (found.document.n_groups, found.document.groups_used, found.document.groups_skipped)
        assert counted == (wanted["n_groups"], wanted["n_groups_used"], wanted["n_groups_skipped"])


def test_topical_chat_williams_tests(shared_data: Path) -> None:
    reference = json.loads((shared_data / "topical_chat" / "reference.json").read_text(encoding="utf-8"))
    assert len(reference["williams"]) > 10
    for wanted in reference["williams"]:
        found = stats.williams_test(wanted["r12"], wanted["r13"], wanted["r23"], wanted["n"])
        assert found.t == pytest.approx(wanted["t"], abs=1e-6)
        assert found.p_two_sided == pytest.approx(wanted["p_two_sided"], abs=1e-6)
