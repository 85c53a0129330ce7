"""The CoEval paper (Li et al. 2023) from its public release: one folder of A*.json for each of three studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from coeval.errors import InputError
from coeval.extensions.replication.cells import Cell, Replication, load_published
from coeval.extensions.replication.released_files import load_entries
from coeval.extensions.replication.released_study import COMBINED, find_files
from coeval.settings import load_settings
from coeval.stats import Table, krippendorff_alpha, paper_tables
from coeval.usecases.access import OPERATOR, open_context
from coeval.usecases.reports.statistics import get_frames, get_report
from coeval.usecases.study_import import ImportOptions, import_file

STUDIES = {"A01": "ELI5", "A06": "ROCStories", "A11": "Self-Instruct"}
"""Each study, with its first person."""

LINES = ("overall", "conclusion", "score", "evidence")
ACTIONS = ("approve", "revise", "delete", "add")
ELSEWHERE = (
    ("Table 5", "actions on proposed criteria", "the ballots on criteria are not in the files"),
    ("Table 7", "minutes a sample, people alone", "the times of the study without drafts are not in the files"),
    ("Table 8", "mean correlation of people without drafts", "the scores given without drafts are not in the files"),
    ("Table 9", "correction, scrutiny, subjectivity, outlier",
     "they compare with the majority of people without drafts, whose scores are not in the files"),
)  # fmt: skip


def replicate_coeval(data: Path) -> Replication:
    """Recompute every table and figure of the paper for which the files have data.

    Raises InputError for a folder without any of the studies.
    """
    folders = _find_studies(data)
    replication = Replication("Collaborative Evaluation (Li et al. 2023)")
    for name, folder in folders.items():
        _add_study(replication, name, folder, _find_combined(data, folder))
    for name in STUDIES.values():
        if name not in folders:
            replication.cells.append(
                Cell(name, "all", "all", "all", None, reason="the folder does not have its A*.json files")
            )
    for table, row, reason in ELSEWHERE:
        replication.cells.append(Cell("all", table, row, "all", None, reason=reason))
    printed = {
        place: value for place, value in load_published("coeval").items() if place[0] in (*folders, "all")
    }
    replication.hold_against(printed)
    for name in folders:
        _find_above_parts(replication, name)
    return replication


def _find_studies(data: Path) -> dict[str, Path]:
    if not data.is_dir():
        raise InputError(f"There is no folder {data}; give the folder of the public CoEval release.")
    folders = sorted({file.parent for file in data.rglob("A*.json") if file.is_file()})
    studies = {STUDIES.get(find_files(folder)[0].stem, folder.name): folder for folder in folders}
    if not studies:
        raise InputError(f"{data.name}: contains no A*.json; give the folder of the public CoEval release.")
    return studies


def _find_combined(data: Path, folder: Path) -> Path | None:
    places = [folder / COMBINED, *sorted(data.rglob(COMBINED))]
    return next((place for place in places if place.is_file()), None)


def _add_study(replication: Replication, name: str, folder: Path, combined: Path | None) -> None:
    with TemporaryDirectory() as place:
        files = Path(place) / name
        files.mkdir()
        for file in [*find_files(folder), *([combined] if combined else [])]:
            (files / file.name).symlink_to(file.resolve())
        context = open_context(load_settings(db=Path(place) / "study.db"))
        import_file(context, OPERATOR, files, "study", ImportOptions(format="coeval-release"))
        report, frames = get_report(context, OPERATOR, "study"), get_frames(context, OPERATOR, "study")
    replication.cells += [
        *_actions(name, report),
        *_times(name, report),
        *_correlations(name, report),
        *_pairs(name, report),
    ]
    figures = {
        "distributions_by_criterion": "Figure 2",
        "pairwise": "Figures 3 to 5",
        "distributions": "Figures 6 and 7",
        "time": "Figure 8",
    }
    for table in paper_tables(frames):
        if table.name in figures:
            slug = name.lower().replace("-", "_")
            title = f"{figures[table.name]}, {name}: {table.title}"
            replication.figures.append(Table(f"{slug}_{table.name}", title, table.note, table.frame))
    _find_shifts(replication, name, folder)


def _actions(name: str, report: Mapping[str, Any]) -> Iterator[Cell]:
    for kind in LINES:
        for action in ACTIONS:
            ours = report["actions"][kind][action]
            reason = f"{report['actions'][kind]['n']:,} rows"
            yield Cell(name, "Table 6", kind, action, ours, reason=reason)


def _times(name: str, report: Mapping[str, Any]) -> Iterator[Cell]:
    time, sample = report["time"], report["time"]["minutes_per_sample"]
    reason = (
        f"over {sample['n']:,} timed samples; the median is {_short(sample['median'])}, the mean up to 15 minutes "
        f"{_short(sample['mean_up_to_15_minutes'])}, up to 30 minutes {_short(sample['mean_up_to_30_minutes'])}"
    )
    yield Cell(name, "Table 7", "minutes a sample, with CoEval", "mean", sample["mean"], reason=reason)
    for row in time["per_criterion"]:
        reason = f"{row['n']:,} timed evaluations; the median is {_short(row['median_seconds'])}"
        yield Cell(name, "Figure 8", row["criterion"], "mean seconds", row["mean_seconds"], reason=reason)


def _short(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def _correlations(name: str, report: Mapping[str, Any]) -> Iterator[Cell]:
    means = report["alignment"]["mean_pairwise_correlations"]["people"]
    for method in ("pearson", "spearman", "kendall"):
        row = "mean correlation of two people, with CoEval"
        yield Cell(name, "Table 8", row, method, means[method], reason=f"{means['n_pairs']} pairs of people")


def _pairs(name: str, report: Mapping[str, Any]) -> Iterator[Cell]:
    for pair in report["agreement"]["pairwise"]:
        for figure, level in (("Figure 3", "nominal"), ("Figure 4", "ordinal"), ("Figure 5", "interval")):
            yield Cell(
                name,
                figure,
                f"{pair['a']} and {pair['b']}",
                level,
                pair[level],
                reason=f"{pair['n']:,} units",
            )


def _find_above_parts(replication: Replication, name: str) -> None:
    """Find printed overall shares that lie outside the range of the printed shares for each kind of line."""
    for action in ACTIONS:
        own_cells = {
            cell.row: cell
            for cell in replication.cells
            if (cell.study, cell.table, cell.column) == (name, "Table 6", action)
        }
        printed = {kind: cell.printed for kind, cell in own_cells.items() if cell.printed is not None}
        overall = printed.pop("overall", None)
        if overall is not None and printed and not min(printed.values()) <= overall <= max(printed.values()):
            replication.add(
                f"{name.lower()}_overall_{action}",
                f"Table 6, {name}: the share of all lines is a mean of the shares of conclusions, scores and evidence, "
                f"so it lies between them. The printed {overall:.4f} for “{action}” lies outside the range of "
                "the printed parts.",
                (
                    {
                        "lines": kind,
                        "action": action,
                        "ours": own_cells[kind].ours,
                        "printed": own_cells[kind].printed,
                    }
                    for kind in LINES
                ),
            )


def _find_shifts(replication: Replication, name: str, folder: Path) -> None:
    """Show how results change if people's scores are paired by their place in the files instead of by
    instance and criterion.
    """
    people: dict[str, list[tuple[tuple[str, str], float | None]]] = {}
    for file in find_files(folder):
        for entry in load_entries(file):
            scores = [((entry.instance, record.criterion), record.score) for record in entry.records]
            people.setdefault(entry.person, []).extend(scores)
    rows = list(_pair_rows(people))
    affected = sum(bool(row["other unit in the same place"]) for row in rows)
    if affected:
        replication.add(
            f"{name.lower()}_pairing",
            f"Figures 3 to 5, {name}: the people's files list criteria in different orders, and a missing one "
            "shifts all later ones. Alpha of two people compares scores of the same instance and criterion; "
            f"pairing scores by their places in the files gives another number. Of {len(rows)} pairs of "
            f"people, {affected} are affected.",
            rows,
        )


def _pair_rows(
    people: Mapping[str, Sequence[tuple[tuple[str, str], float | None]]],
) -> Iterator[dict[str, object]]:
    names = list(people)
    for k, a in enumerate(names):
        for b in names[k + 1 :]:
            left, right = dict(people[a]), dict(people[b])
            shared = [unit for unit in left if unit in right]
            by_key = _alpha([left[unit] for unit in shared], [right[unit] for unit in shared])
            size = min(len(people[a]), len(people[b]))
            sides = [[score for _, score in people[name][:size]] for name in (a, b)]
            other = sum(first[0] != two[0] for first, two in zip(people[a], people[b], strict=False))
            yield {
                "a": a,
                "b": b,
                "other unit in the same place": other,
                "of": size,
                "nominal alpha, same unit": by_key,
                "nominal alpha, same place": _alpha(*sides),
            }


def _alpha(a: Sequence[float | None], b: Sequence[float | None]) -> float:
    table = pd.DataFrame([a, b], dtype=float).to_numpy()
    return float(krippendorff_alpha(table, "nominal")) if table.size else np.nan
