"""The CoEval paper's tables, and the ones a reviewer asks for beside them, from a study's report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from coeval.stats.behaviour.actions import ACTIONS, BEHAVIOURS, KINDS, action_rates
from coeval.stats.estimates.results import plain
from coeval.stats.frames import StudyFrames
from coeval.stats.report.document import build_report

Document = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Table:
    """One table: ``name`` for files and labels, ``title``, ``note`` (what is counted), and its ``frame``."""

    name: str
    title: str
    note: str
    frame: pd.DataFrame


def paper_tables(
    study: StudyFrames, report: Document | None = None, votes: pd.DataFrame | None = None
) -> list[Table]:
    """Every table of the study, in the paper's order.

    Parameters
    ----------
    report : the document of ``build_report``, if it is at hand; else it is built.
    votes : the votes on proposed criteria (``action``, optionally ``n``), for the first table.

    Returns
    -------
    list of Table
        Criteria actions (with votes), evaluation actions, score changes, agreement, pairwise agreement, time,
        mean pairwise correlations, the four behaviours, score distributions, systems, judges, and the effect
        of assistance; a table without a row is left out.
    """
    document = build_report(study) if report is None else report
    tables = [make(document) for make in _MAKERS]
    if votes is not None:
        tables.insert(0, _criteria_actions(votes))
    return [table for table in tables if len(table.frame)]


def _criteria_actions(votes: pd.DataFrame) -> Table:
    rates = plain(action_rates(votes))["overall"]
    return Table(
        "criteria_actions",
        "Actions on proposed criteria",
        "Shares of all votes (paper, table 5).",
        _frame([rates], ("n", *ACTIONS)),
    )


def _evaluation_actions(document: Document) -> Table:
    rows = [{"lines": kind, **document["actions"][kind]} for kind in ("overall", *KINDS)]
    return Table(
        "evaluation_actions",
        "Actions on drafted evaluations",
        "Shares of the lines of assisted submissions (paper, table 6).",
        _frame(rows, ("lines", "n", *ACTIONS)),
    )


def _score_changes(document: Document) -> Table:
    change = document["score_change"]
    rows = [*change["per_criterion"], {**change, "criterion": "all"}]
    return Table(
        "score_changes",
        "Changes of the drafted scores",
        f"Assisted submissions with both scores; {change['n_left_out']} without and "
        f"{change['n_sown_left_out']} shown a wrong score on purpose are left out.",
        _frame(rows, ("criterion", "n", "raised", "lowered", "unchanged", "mean_change")),
    )


def _agreement(document: Document) -> Table:
    agreement = document["agreement"]
    pooled = {"criterion": "all", **agreement, **agreement["intervals"]["humans"]["ordinal"]}
    rows = [
        {**row, **row["humans"], "ac2": row["ac2"]["value"], "percent": row["percent"]["value"]}
        for row in (*agreement["per_criterion"], pooled)
    ]
    return Table(
        "agreement",
        "Agreement between people",
        "Krippendorff's alpha; 95% interval of ordinal alpha over units; share of replicates below .667; "
        "quadratic AC2 and percent agreement beside it.",
        _frame(
            rows,
            (
                "criterion",
                "n_units",
                "n_annotators",
                "nominal",
                "ordinal",
                "interval",
                "ci_low",
                "ci_high",
                "p_below_667",
                "ac2",
                "percent",
            ),
        ),
    )


def _pairwise(document: Document) -> Table:
    return Table(
        "pairwise",
        "Agreement of every two raters",
        "Krippendorff's alpha over the units both scored; jackknife interval of ordinal alpha; "
        "the model is called llm (paper, figures 3 to 5).",
        _frame(
            document["agreement"]["pairwise"],
            ("a", "b", "n", "nominal", "ordinal", "interval", "ci_low", "ci_high", "cohen", "percent"),
        ),
    )


def _time(document: Document) -> Table:
    time = document["time"]
    sample = time["minutes_per_sample"]
    whole = {
        "criterion": "whole sample (minutes)",
        "n": sample["n"],
        "mean_seconds": sample["mean"],
        "median_seconds": sample["median"],
        "mean_seconds_idle_cut": sample["mean_up_to_30_minutes"],
    }
    frame = _frame(
        [*time["per_criterion"], whole],
        ("criterion", "n", "mean_seconds", "median_seconds", "mean_seconds_idle_cut", "mean_active_seconds"),
    )
    return Table(
        "time",
        "Seconds a criterion and minutes a sample",
        f"{time['n_untimed']} untimed submissions left out. Idle cut: spans up to "
        f"{time['idle_cut_seconds']:g} s, samples up to 30 minutes (paper, table 7 and figure 8).",
        frame if time["n_timed"] else frame.iloc[:0],
    )


def _correlations(document: Document) -> Table:
    means = document["alignment"]["mean_pairwise_correlations"]
    rows = [{"raters": _RATERS[name], **entry} for name, entry in means.items() if entry["n_pairs"]]
    return Table(
        "pairwise_correlations",
        "Mean correlation of two raters",
        "Over all units two raters share; tau is tau-b (paper, table 8).",
        _frame(rows, ("raters", "n_pairs", "pearson", "spearman", "kendall")),
    )


def _behaviours(document: Document) -> Table:
    rows = [
        {"arm": arm, "behaviour": name, "n": entry[name]["n"], "of": entry["n"], "rate": entry[name]["rate"]}
        for arm in ("assisted", "blind", "first")
        if (entry := document["behaviour"][arm])["n"]
        for name in ("correction", "scrutiny", "subjectivity", "outlier")
    ]
    rules = "; ".join(f"{name}: {rule}" for name, rule in BEHAVIOURS.items())
    return Table(
        "behaviours",
        "Correction, scrutiny, subjectivity, outlier",
        f"{rules}. The blind arm is held against the withheld draft (paper, table 9).",
        _frame(rows, ("arm", "behaviour", "n", "of", "rate")),
    )


def _distributions(document: Document) -> Table:
    rows = [
        {
            "source": row["source"],
            "system": row["system"] or "all",
            "n": row["n"],
            "mean": row["mean"],
            **row["counts"],
        }
        for row in document["behaviour"]["distributions"]
    ]
    scores = sorted(
        {score for row in document["behaviour"]["distributions"] for score in row["counts"]}, key=float
    )
    frame = (
        _frame(rows, ("source", "system", "n", "mean", *scores))
        if len(scores) <= 20
        else _frame(rows, ("source", "system", "n", "mean"))
    )
    return Table(
        "distributions",
        "Scores by source",
        "How often each score was given (paper, figures 2, 6, 7).",
        frame.fillna({score: 0 for score in scores}),
    )


def _systems(document: Document) -> Table:
    rows = [
        {
            **row,
            "ci_low": row["human"].get("ci_low"),
            "ci_high": row["human"].get("ci_high"),
            "prediction_powered": row["prediction_powered"]["value"],
        }
        for row in document["systems"]
    ]
    return Table(
        "systems",
        "Systems compared",
        "Mean scores; interval of the people's mean over units, t.",
        _frame(
            rows,
            ("system", "n", "human_mean", "ci_low", "ci_high", "llm_mean", "n_llm", "prediction_powered"),
        ),
    )


def _judges(document: Document) -> Table:
    alignment = document["alignment"]
    rows = []
    for run in alignment["runs"]:
        for part in (*run["per_criterion"], {**run, "criterion": "all"}):
            levels = {
                f"{level}_{name}": part["correlations"][level][name]
                for level in ("dataset", "document", "system")
                for name in ("pearson", "spearman", "kendall")
            }
            rows.append(
                {
                    "run": run["label"],
                    "criterion": part["criterion"],
                    "n": part["n_units"],
                    **levels,
                    "winning_rate": part["alt_test"]["winning_rate"],
                    "advantage": part["alt_test"]["advantage_probability"],
                }
            )
    columns = list(rows[0]) if rows else ["run"]
    return Table(
        "judges",
        "Judges against people",
        f"People's mean score of a unit, from {alignment['labels']} scores; alt-test with RMSE, "
        f"epsilon {alignment['epsilon']:g}, Benjamini-Yekutieli.",
        _frame(rows, columns),
    )


def _assistance(document: Document) -> Table:
    found = document["assistance"]
    rows = [
        {"estimate": name, **found[name]}
        for name in ("adoption", "distance", "pull", "alpha_difference")
        if found[name]["value"] is not None
    ]
    caught = found["sown"]["caught"]
    if caught["value"] is not None:
        rows.append({"estimate": "caught wrong scores", **caught})
    return Table(
        "assistance",
        "The effect of assistance",
        "Assisted minus blind: share of scores equal to the draft's, mean distance from it, ordinal alpha; "
        "pull: share of the way to a shifted shown score. Intervals over instances (alpha: units).",
        _frame(rows, ("estimate", "value", "ci_low", "ci_high", "p_value")),
    )


_RATERS = {
    "people": "people",
    "llm": "model and person",
    "people_assisted": "people, assisted",
    "llm_assisted": "model and person, assisted",
    "people_blind": "people, blind",
    "llm_blind": "model and person, blind",
}

_MAKERS: Sequence[Callable[[Document], Table]] = (
    _evaluation_actions,
    _score_changes,
    _agreement,
    _pairwise,
    _time,
    _correlations,
    _behaviours,
    _distributions,
    _systems,
    _judges,
    _assistance,
)


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(
        [{column: row.get(column) for column in columns} for row in rows], columns=list(columns)
    )
