"""Annotator competence without a key: Dawid and Skene's model."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from coeval.stats.estimates.results import Result
from coeval.stats.rating_matrix import Codes, Numbers, Ratings, encode_ratings, is_missing, parse_ratings


def dawid_skene(
    labels: Any,
    *,
    outer: str = "annotator",
    value_domain: Sequence[Any] | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 2000,
) -> Result:
    """How often each annotator confuses which categories, and which category each item most likely has.

    Expectation-maximisation from vote shares: the items' class probabilities and the annotators' error rates
    explain each other. An annotator may label an item several times.

    Parameters
    ----------
    labels : annotators x items (DataFrame or array, missing where not labelled; a cell may hold a list), or
        ``{annotator: {item: label or list of labels}}``.
    outer : "item" where the outer keys (or rows) are the items instead.
    tolerance : stop when no class probability of an item changes by more.

    Returns
    -------
    Result
        ``class_marginals`` (in the order of ``classes``), ``error_rates`` ({annotator: matrix, true class x
        given label}), ``posteriors`` (items x classes), ``labels`` (the likeliest class of each item, in the
        order of ``item_names``), ``competence`` ({annotator: chance that a label is right}),
        ``log_likelihood``, ``n_iterations``, ``converged``, ``n``, ``reason``.

    Source: Dawid and Skene 1979, Maximum likelihood estimation of observer error-rates using the EM algorithm.

    >>> found = dawid_skene({"ann": {1: 1, 2: 2, 3: 1}, "bob": {1: 1, 2: 2, 3: 1}, "cid": {1: 1, 2: 2, 3: 2}})
    >>> found.labels, round(found.competence["ann"], 2), found.competence["cid"] < 1
    ([1.0, 2.0, 1.0], 1.0, True)
    """
    if outer not in ("annotator", "item"):
        raise ValueError(f"outer is {outer!r}; it must say whether the outer keys are 'annotator' or 'item'.")
    data = _encoded(labels, outer, value_domain)
    if not len(data.code):
        empty: dict[str, Any] = {name: [] for name in ("class_marginals", "classes", "labels", "item_names")}
        empty |= {"error_rates": {}, "competence": {}, "posteriors": np.empty((0, 0))}
        run = {"n_iterations": 0, "converged": False, "n": 0}
        return Result.undefined("there are no labels", "log_likelihood", **empty, **run)
    fit = _Fit(data)
    posteriors, step, iterations = fit.vote_shares(), np.inf, 0
    while step > tolerance and iterations < max_iterations:
        better, _ = fit.expect(*fit.maximise(posteriors))
        step, posteriors, iterations = float(np.abs(better - posteriors).max()), better, iterations + 1
    return _result(fit, posteriors, {"n_iterations": iterations, "converged": step <= tolerance})


@dataclass(frozen=True)
class _Fit:
    """One data set; ``items`` are those with a label."""

    data: Ratings

    @property
    def items(self) -> Codes:
        return np.flatnonzero(self.data.per_unit)

    def vote_shares(self) -> Numbers:
        counts = self.data.counts.astype(float)
        return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)

    def maximise(self, posteriors: Numbers) -> tuple[Numbers, Numbers]:
        """Class marginals, and error rates annotators x true class x label, from the items' posteriors."""
        d, q = self.data, len(self.data.categories)
        marginals = posteriors[self.items].mean(axis=0)
        cell = d.annotator * q + d.code
        sums = [np.bincount(cell, posteriors[d.unit, k], d.n_annotators * q) for k in range(q)]
        errors = np.stack(sums, axis=1).reshape(d.n_annotators, q, q).transpose(0, 2, 1)
        totals = errors.sum(axis=2, keepdims=True)
        return marginals, np.divide(errors, totals, out=np.zeros_like(errors), where=totals > 0)

    def expect(self, marginals: Numbers, errors: Numbers) -> tuple[Numbers, float]:
        """The items' posteriors and the log-likelihood."""
        d = self.data
        with np.errstate(divide="ignore"):
            log_errors, log_marginals = np.log(errors), np.log(marginals)
        sums = [
            np.bincount(d.unit, np.maximum(log_errors[d.annotator, k, d.code], -1e6), d.n_units)
            for k in range(len(marginals))
        ]
        joint = np.stack(sums, axis=1) + np.maximum(log_marginals, -1e6)
        top = joint.max(axis=1, keepdims=True)
        shares = np.exp(joint - top)
        total = shares.sum(axis=1, keepdims=True)
        return shares / total, float((np.log(total) + top)[self.items].sum())


def _result(fit: _Fit, posteriors: Numbers, run: dict[str, Any]) -> Result:
    marginals, errors = fit.maximise(posteriors)
    likelihood = fit.expect(marginals, errors)[1]
    data, items = fit.data, fit.items
    named = [data.units[k] for k in items]
    classes = data.categories.tolist()
    right = {
        name: float(marginals @ np.diag(errors[k]))
        for k, name in enumerate(data.annotators)
        if (data.annotator == k).any()
    }
    return Result(
        run,
        class_marginals=marginals.tolist(),
        classes=classes,
        error_rates={name: errors[k] for k, name in enumerate(data.annotators) if name in right},
        posteriors=posteriors[items],
        labels=[classes[k] for k in posteriors[items].argmax(axis=1)],
        item_names=named,
        competence=right,
        log_likelihood=likelihood,
        n=len(data.code),
        reason=None,
    )


def _encoded(labels: Any, outer: str, value_domain: Sequence[Any] | None) -> Ratings:
    """Long-form labels, several a cell allowed."""
    if isinstance(labels, Ratings):
        return labels
    if not isinstance(labels, Mapping) and not _holds_lists(labels):
        frame = labels if isinstance(labels, pd.DataFrame) else pd.DataFrame(labels)
        return parse_ratings(frame if outer == "annotator" else frame.T, value_domain)
    cells = list(_cells(labels))
    first, second = (list(dict.fromkeys(cell[side] for cell in cells)) for side in (0, 1))
    places = [{name: k for k, name in enumerate(names)} for names in (first, second)]
    rows, columns = ([places[side][cell[side]] for cell in cells] for side in (0, 1))
    values = np.empty(len(cells), dtype=object)
    values[:] = [cell[2] for cell in cells]
    if outer == "item":
        first, second, rows, columns = second, first, columns, rows
    return encode_ratings(rows, columns, values, tuple(first), second, value_domain)


def _holds_lists(labels: Any) -> bool:
    cells = (
        labels.to_numpy().ravel() if isinstance(labels, pd.DataFrame) else (c for row in labels for c in row)
    )
    return any(isinstance(cell, (list, tuple)) for cell in cells)


def _cells(labels: Any) -> Iterator[tuple[Hashable, Hashable, Any]]:
    """Outer key, inner key and label of every label there is."""
    if isinstance(labels, pd.DataFrame):
        labels = labels.to_dict(orient="index")
    rows = labels.items() if isinstance(labels, Mapping) else enumerate(labels)
    for name, row in rows:
        for item, cell in row.items() if isinstance(row, Mapping) else enumerate(row):
            for label in cell if isinstance(cell, (list, tuple)) else (cell,):
                if not is_missing(label):
                    yield name, item, label
