"""The CoEval paper's tables, and related tables for reviewers, from a study's report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from coeval.stats.actions import ACTIONS, BEHAVIOURS, KINDS, action_rates, against_majority
from coeval.stats.estimates import plain
from coeval.stats.frames import ASSISTED, StudyFrames
from coeval.stats.report.document import build_report, list_tables
from coeval.stats.report.tables import Table

Document = Mapping[str, Any]


def paper_tables(
    study: StudyFrames, report: Document | None = None, votes: pd.DataFrame | None = None
) -> list[Table]:
    """Return every table of the study, in the paper's order.

    Parameters
    ----------
    report : the document of ``build_report``; built by default.
    votes : the votes on proposed criteria (``action``, optionally ``n`` and ``group``), for the first table.

    Returns
    -------
    list of Table
        Criteria actions (with votes), evaluation actions, score changes, agreement, pairwise agreement, time,
        mean pairwise correlations, the four behaviours, score distributions, systems, judges, the
        comparison with the majority without the draft, and the tables of other sections. Tables without rows are left
        out.
    """
    document = build_report(study) if report is None else report
    tables = [make(document) for make in _MAKERS]
    tables.append(_majority(study))
    own = list_tables(study, replicates=document["replicates"], seed=document["seed"])
    tables += [table for _, table in own]
    if votes is not None:
        tables.insert(0, _criteria_actions(votes))
    return [table for table in tables if len(table.frame)]


def _criteria_actions(votes: pd.DataFrame) -> Table:
    groups = list(votes.groupby("group")) if "group" in votes else []
    parts = [("all", votes), *(groups if len(groups) > 1 else [])]
    rows = [{"voters": name, **plain(action_rates(part).overall)} for name, part in parts]
    return Table(
        "criteria_actions",
        "Actions on proposed criteria",
        "Shares of all votes, and by group of voters (paper, table 5).",
        _frame(rows, ("voters", "n", *ACTIONS)),
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
        f"{change['n_planted_left_out']} shown a wrong score on purpose are left out.",
        _frame(rows, ("criterion", "n", "raised", "lowered", "unchanged", "mean_change")),
    )


def _agreement(document: Document) -> Table:
    agreement = document["agreement"]
    pooled = {"criterion": "all", **agreement, **agreement["intervals"]["humans"]["ordinal"]}
    headline = agreement["headline"]
    mean = {
        **headline,
        "criterion": f"mean over criteria ({headline['scores']})",
        "ordinal": headline["value"],
    }
    rows = [mean] + [
        {**row, **row["humans"], "ac2": row["ac2"]["value"], "percent": row["percent"]["value"]}
        for row in (*agreement["per_criterion"], pooled)
    ]
    kind = headline.get("resampled") or "clusters"
    return Table(
        "agreement",
        "Agreement between people",
        f"Krippendorff's alpha; 95% interval of ordinal alpha from leaving out one of the {kind} at a time, for these "
        "people; share of replicates below .667; also quadratic AC2 and percent agreement. All: the criteria "
        "pooled.",
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
                "clusters",
                "p_below_667",
                "ac2",
                "percent",
            ),
        ),
    )


def _pairwise(document: Document) -> Table:
    return Table(
        "pairwise",
        "Agreement of each pair of raters",
        "Krippendorff's alpha over the units that both scored; interval of ordinal alpha from leaving out clusters; "
        "the model is called llm (paper, figures 3 to 5).",
        _frame(
            document["agreement"]["pairwise"],
            ("a", "b", "n", "nominal", "ordinal", "interval", "ci_low", "ci_high", "cohen", "percent"),
        ),
    )


def _time(document: Document) -> Table:
    time = document["time"]
    frame = _frame(
        time["per_criterion"],
        ("criterion", "n", "mean_seconds", "median_seconds", "mean_seconds_idle_cut", "mean_active_seconds"),
    )
    return Table(
        "time",
        "Seconds per criterion",
        f"{time['n_untimed']} untimed submissions left out. Idle cut: spans up to "
        f"{time['idle_cut_seconds']:g} s (paper, figure 8).",
        frame if time["n_timed"] else frame.iloc[:0],
    )


def _sample_time(document: Document) -> Table:
    time, sample = document["time"], document["time"]["minutes_per_sample"]
    row = {
        "samples": sample["n"],
        "mean_minutes": sample["mean"],
        "median_minutes": sample["median"],
        "mean_minutes_up_to_15": sample["mean_up_to_15_minutes"],
        "mean_minutes_up_to_30": sample["mean_up_to_30_minutes"],
    }
    return Table(
        "time_per_sample",
        "Minutes per instance",
        "One person's whole work on one instance, its timed criteria together (paper, table 7).",
        _frame([row] if time["n_timed"] else [], tuple(row)),
    )


def _correlations(document: Document) -> Table:
    means = document["alignment"]["mean_pairwise_correlations"]
    rows = [{"raters": _RATERS[name], **entry} for name, entry in means.items() if entry["n_pairs"]]
    return Table(
        "pairwise_correlations",
        "Mean correlation over pairs of raters",
        "Over all units that both raters scored; tau is tau-b (paper, table 8).",
        _frame(rows, ("raters", "n_pairs", "pearson", "spearman", "kendall")),
    )


def _behaviours(document: Document) -> Table:
    rows = [
        {"arm": arm, "behaviour": name, "n": entry[name]["n"], "of": entry["n"], "rate": entry[name]["rate"]}
        for arm in ("assisted", "blind", "first")
        if (entry := document["behaviour"][arm])["n"]
        for name in ("nearer", "kept", "elsewhere", "far")
    ]
    rules = "; ".join(f"{name}: {rule}" for name, rule in BEHAVIOURS.items())
    return Table(
        "behaviours",
        "What people made of the draft's score",
        f"By our own rules: {rules}. The blind arm is compared with the withheld draft.",
        _frame(rows, ("arm", "behaviour", "n", "of", "rate")),
    )


def _majority(study: StudyFrames) -> Table:
    assisted = study.genuine[study.genuine["arm"] == ASSISTED]
    return Table(
        "against_majority",
        "Against the majority of people without the draft",
        "Assisted submissions on units on which more than half of the blind and first scores, and at least two, are "
        "the same (the comparison of the paper's table 9).",
        _frame(against_majority(assisted, study.unaided), ("behaviour", "n", "of", "rate")),
    )


def _distributions(document: Document) -> Table:
    rows = document["behaviour"]["distributions"]
    return _shares_table(
        "distributions",
        "Scores by source",
        "How often each score was given, over all criteria (paper, figures 6 and 7).",
        [{**row, "system": row["system"] or "all"} for row in rows],
        "system",
    )


def _distributions_by_criterion(document: Document) -> Table:
    return _shares_table(
        "distributions_by_criterion",
        "Scores by source and criterion",
        "How often each score was given, over all systems (paper, figure 2).",
        document["behaviour"]["distributions_by_criterion"],
        "criterion",
    )


def _shares_table(name: str, title: str, note: str, shares: Sequence[Mapping[str, Any]], by: str) -> Table:
    scores = sorted({score for row in shares for score in row["counts"]}, key=float)
    rows = [{**row, **dict.fromkeys(scores, 0), **row["counts"]} for row in shares]
    columns = ("source", by, "n", "mean", *scores) if len(scores) <= 20 else ("source", by, "n", "mean")
    return Table(name, title, note, _frame(rows, columns))


def _systems(document: Document) -> Table:
    rows = [
        {
            **row,
            "prediction_powered": row["prediction_powered"]["value"],
        }
        for row in document["systems"]
    ]
    return Table(
        "systems",
        "Systems compared",
        "Mean scores; interval of the people's mean from leaving out clusters, for these people; rank by this mean, "
        "with the middle 95% of its ranks over resampled clusters.",
        _frame(
            rows,
            (
                "system",
                "n",
                "human_mean",
                "ci_low",
                "ci_high",
                "rank",
                "rank_low",
                "rank_high",
                "llm_mean",
                "n_llm",
                "prediction_powered",
            ),
        ),
    )


def _judges(document: Document) -> Table:
    alignment = document["alignment"]
    rows = []
    for run in alignment["runs"]:
        means = {
            level: {name: entry["value"] for name, entry in values.items() if name != "n_criteria"}
            for level, values in run["correlations_mean"].items()
        }
        mean = {"criterion": "mean", "n_units": run["n_units"], "correlations": means, "alt_test": {}}
        for part in (*run["per_criterion"], mean, {**run, "criterion": "all"}):
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
                    "winning_rate": part["alt_test"].get("winning_rate"),
                    "advantage": part["alt_test"].get("advantage_probability"),
                    "alt_test_p_holm": part.get("alt_test_p_holm"),
                }
            )
    columns = list(rows[0]) if rows else ["run"]
    return Table(
        "judges",
        "Judges against people",
        f"People's mean score of a unit, from {alignment['labels']} scores; alt-test with RMSE, "
        f"epsilon {alignment['epsilon']:g}, Benjamini-Yekutieli, p adjusted over criteria "
        "(Holm). All: the criteria pooled; mean: their mean.",
        _frame(rows, columns),
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
    _sample_time,
    _correlations,
    _behaviours,
    _distributions,
    _distributions_by_criterion,
    _systems,
    _judges,
)


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    frame = pd.DataFrame(
        [{column: row.get(column) for column in columns} for row in rows], columns=list(columns), dtype=object
    )
    return frame.apply(_typed)


def _typed(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return counts as integers, even if some are missing. Other numbers do not change."""
    known = column.dropna()
    if len(known) and all(type(value) is int for value in known):
        return column.astype("Int64")
    return column.infer_objects()
