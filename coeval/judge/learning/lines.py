"""Lines: one row an instance and criterion, with what people gave it and what a judge said.

Folds are of whole documents, so that nothing is judged by what was learned from the same document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from coeval.judge.fitted import Fitted
from coeval.judge.labels import JUDGES, Labels

KEYS = ["instance", "criterion"]
FOLDS = 10
"""Parts of the documents in a cross-validation, or as many as there are documents."""

Fit = Callable[[Labels], Fitted]
"""How something is learned: from the labels it may see to what was fitted."""


def people_lines(labels: Labels) -> pd.DataFrame:
    """Each line with its ``document`` and ``system``, people's mean as ``human``, and how many ``people`` scored it."""
    grouped = labels.people.groupby(KEYS, sort=True)
    return grouped.agg(
        document=("document", "first"),
        system=("system", "first"),
        human=("score", "mean"),
        people=("score", "size"),
    ).reset_index()


def judged_lines(labels: Labels, table: pd.DataFrame, within: float = 0.0) -> pd.DataFrame:
    """The lines that have both, with the columns of ``table`` (see ``Fitted.apply``) and ``agree``.

    ``agree`` is the share of a line's people whose score is within ``within`` of the judge's, rounded to a step of the
    scale; NaN where the judge has no score.
    """
    lines = people_lines(labels).merge(table, on=KEYS, how="inner")
    given = labels.people[[*KEYS, "score"]].merge(table[[*KEYS, "score"]], on=KEYS, suffixes=("", "_judge"))
    same = (given["score"] - np.floor(given["score_judge"] + 0.5)).abs() <= within + 1e-9
    share = same.where(given["score_judge"].notna()).groupby([given[key] for key in KEYS]).mean()
    return lines.merge(share.rename("agree").reset_index(), on=KEYS, how="left")


def fold_documents(labels: Labels, folds: int = FOLDS, seed: int = 0) -> list[list[object]]:
    """The documents dealt into parts of nearly equal size, in an order drawn by ``seed``."""
    documents = sorted(labels.documents, key=str)
    order = np.random.default_rng(seed).permutation(len(documents))
    parts = min(folds, len(documents))
    return [[documents[place] for place in order[start::parts]] for start in range(parts)]


@dataclass(frozen=True, eq=False)
class Fold:
    """A part of the documents, and the rest that may be learned from to judge it."""

    rest: Labels
    own: Labels


def deal(labels: Labels, folds: int = FOLDS, seed: int = 0) -> tuple[Fold, ...]:
    """The folds of a cross-validation by documents; none where there are fewer than two documents."""
    parts = fold_documents(labels, folds, seed)
    return tuple(
        Fold(
            labels.for_documents([document for part in parts if part is not own for document in part]),
            labels.for_documents(own),
        )
        for own in (parts if len(parts) > 1 else [])
    )


def cross_apply(folds: Sequence[Fold], fit: Fit) -> pd.DataFrame:
    """What is said of every line by what was fitted on the other parts of the documents: rows of ``Fitted.apply``."""
    return join_tables([fit(fold.rest).apply(fold.own.judges) for fold in folds])


def join_tables(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables of ``Fitted.apply`` as one, empty where there is none."""
    return pd.concat(tables, ignore_index=True) if tables else Fitted().apply(NO_JUDGES)


NO_JUDGES = pd.DataFrame(
    {name: pd.Series(dtype=float if name in ("score", "spread") else object) for name in JUDGES}
)
