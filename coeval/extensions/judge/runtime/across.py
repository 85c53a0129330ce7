"""Compare a new system with an old one that only the retired judge scored, on the scale of their judges' bridge."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
from pydantic import ValidationError

from coeval.datasets.tables.table_files import open_table
from coeval.datasets.text import load_json
from coeval.errors import InputError
from coeval.extensions.judge.bridge.restated import WITHOUT, find_se
from coeval.extensions.judge.bridge.schema import Bridge, CriterionBridge, Design, Side
from coeval.extensions.judge.certificate.frozen_judge import hash_judge, list_members
from coeval.extensions.judge.model.file_schema import JudgeFile
from coeval.extensions.judge.runtime.input_files import read_score
from coeval.extensions.judge.runtime.system_differences import Difference

COLUMNS = ("instance", "document", "system", "criterion", "raw")
"""The columns of ``judge run`` that the old system's scores need."""
UNLINKED = "unlinked"
"""The column of a judge's uncalibrated scores, beside their linked values."""


def load_bridge(path: Path, judge: JudgeFile) -> Bridge:
    """Return the bridge in a file of ``judge bridge --json``.

    Raises:
        InputError: the file cannot be read, is not a bridge, or is for another judge.
    """
    try:
        bridge = Bridge.model_validate(load_json(path))
    except ValidationError as error:
        raise InputError(f"{path.name} is not a bridge: make it with judge bridge --json.") from error
    prompts = tuple(dict.fromkeys(asking.prompt_hash for asking in judge.judges))
    hashes = {hash_judge(list_members(judge.fitted, judge.judges[0].judge), prompts, judge.fitted)}
    if judge.certificate:
        hashes.add(str(dict(judge.certificate).get("hashes", {}).get("judge", "")))  # type: ignore[union-attr]
    if bridge.new.hash not in hashes and bridge.new.name != judge.name:
        raise InputError(f"The bridge leads to the judge “{bridge.new.name}”, not to “{judge.name}”.")
    return bridge


def load_scored(path: Path, system: str) -> pd.DataFrame:
    """Return the old system's rows of a table of scores, as ``judge run`` writes it.

    Raises:
        InputError: the file is broken, lacks a column, or has no scores of the system.
    """
    table = open_table(path)
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise InputError(f"{path.name} has no column “{missing[0]}”: give the table that judge run writes.")
    rows = []
    for row in table.rows():
        cells = {name: row.cells[name].strip() for name in COLUMNS}
        if cells["system"] == system:
            place = table.place(row.line, "raw")
            raw = read_score(cells["raw"], place) if cells["raw"] else math.nan
            rows.append(cells | {"raw": raw, "document": cells["document"] or cells["instance"]})
    if not rows:
        raise InputError(f"{path.name} has no scores of “{system[:60]}”.")
    return pd.DataFrame(rows)


def join_across(scored: pd.DataFrame, old: pd.DataFrame, bridge: Bridge) -> pd.DataFrame:
    """Return one table for the gate: the new judge's scores of the new system, the old judge's of the old one.

    ``raw`` and ``score`` are the linked scores, and ``UNLINKED`` the uncalibrated ones. Criteria without a link have
    no scores.
    """
    sides: dict[Side, pd.DataFrame] = {"new": scored, "old": old}
    links = {criterion_bridge.criterion: criterion_bridge for criterion_bridge in bridge.by_criterion}
    parts = []
    for side, rows in sides.items():
        linked = np.full(len(rows), math.nan)
        for place, (criterion, raw) in enumerate(zip(rows["criterion"], rows["raw"], strict=True)):
            across = links.get(criterion)
            if across is not None and across.design is not Design.NONE:
                linked[place] = _link(across, side, np.array([raw]))[0]
        parts.append(rows.assign(unlinked=rows["raw"], raw=linked, score=linked))
    table = pd.concat(parts, ignore_index=True).assign(people=math.nan)
    column = table["answers"] if "answers" in table else [()] * len(table)
    answers = [each if isinstance(each, tuple) else () for each in column]
    return table.assign(answers=pd.Series(answers, table.index, dtype=object))


def _link(across: CriterionBridge, side: Side, raw: np.ndarray, without: int | None = None) -> np.ndarray:
    link = across.get_link(side)
    return raw if link is None else link.apply(raw, without)


def tell_unlinked(bridge: Bridge, criterion: str) -> str:
    """Return why a criterion cannot be compared across the bridge, or "" if it can."""
    across = next((each for each in bridge.by_criterion if each.criterion == criterion), None)
    if across is None:
        return "The bridge does not have this criterion."
    if across.design is Design.NONE:
        return f"The bridge has no link on this criterion: {across.reason}."
    if any(link.spread is None for link in across.links):
        return f"The bridge cannot tell: {WITHOUT}."
    return ""


def widen(
    difference: Difference, rows: pd.DataFrame, systems: tuple[str, str], bridge: Bridge, level: float
) -> Difference:
    """Add the links' errors to the error of a difference of linked means.

    A link has an error of its own, and links differ between systems. Few systems show the second error, so it has few
    degrees of freedom. Each part has its own critical value at ``level``. The result's ``df`` is the one whose critical
    value is their mean, weighted by variance. Without any error, the difference is returned as it is.

    Args:
        rows: one criterion's rows of ``join_across``.
        systems: the new system and the old one.

    Source: Cochran and Cox 1950, Experimental Designs, section 4.14.
    """
    across = next(each for each in bridge.by_criterion if each.criterion == rows["criterion"].iloc[0])
    gaps = _find_gaps(rows, systems, across)
    variances = [np.nan_to_num(difference.se) ** 2, np.nan_to_num(find_se(gaps)) ** 2]
    freedom = [difference.df, max(len(gaps) - 1, 1)]
    for link in across.links:
        variances.append((link.spread or 0.0) ** 2 * (1 + 1 / link.systems))
        freedom.append(link.systems - 1)
    se = math.sqrt(sum(variances))
    if not se > 0:
        return difference
    critical = float(np.average(scipy.special.stdtrit(freedom, 1 - level), weights=variances))
    df = float(scipy.special.stdtridf(1 - level, critical))
    # the links' errors are taken as symmetric
    skew = difference.skew * (np.nan_to_num(difference.se) / se) ** 3
    return replace(difference, se=se, df=df, skew=float(skew))


def _find_gaps(rows: pd.DataFrame, systems: tuple[str, str], across: CriterionBridge) -> np.ndarray:
    """Return the difference of the linked means for each document that the links leave out."""
    sides: tuple[Side, Side] = ("new", "old")
    means = []
    for side, system in zip(sides, systems, strict=True):
        rated = rows[(rows["system"] == system) & rows[UNLINKED].notna()]
        raw = rated[UNLINKED].to_numpy(dtype=float)
        documents, place, size = np.unique(
            rated["document"].to_numpy(dtype=str), return_inverse=True, return_counts=True
        )
        weights = 1 / (len(documents) * size[place])
        means.append([_link(across, side, raw, n) @ weights for n in range(len(across.links[0].without))])
    return np.subtract(means[0], means[1])
