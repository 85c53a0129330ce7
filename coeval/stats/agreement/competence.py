"""Annotator competence without known answers: Dawid and Skene's model."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from coeval.stats.estimates import Result
from coeval.stats.rating_matrix import Codes, Numbers, Ratings, encode_ratings, is_missing, parse_ratings


def dawid_skene(
    labels: Any,
    *,
    outer: str = "annotator",
    value_domain: Sequence[Any] | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 5000,
) -> Result:
    """Return each annotator's confusion matrix, and the most likely category of each item (Dawid and Skene).

    Expectation-maximisation starts from vote shares and alternates between the items' class probabilities and the
    annotators' error rates. An annotator may label an item several times.

    Parameters
    ----------
    labels : annotators x items (DataFrame or array with missing cells; a cell may contain a list), or
        ``{annotator: {item: label or list of labels}}``.
    outer : "item" if the outer keys (or rows) are the items.
    tolerance : iteration stops when no class probability of an item changes by more than this.

    Returns
    -------
    Result
        ``class_marginals`` (in the order of ``classes``), ``error_rates`` ({annotator: matrix, true class x
        given label}), ``posteriors`` (items x classes), ``labels`` (the likeliest class of each item, in the
        order of ``item_names``), ``competence`` ({annotator: chance that a label is right}, without annotators
        who share no item with others), ``log_likelihood``, ``n_iterations``, ``converged``, ``n``, ``reason``. All
        values are undefined if no two annotators share an item.

    Source: Dawid and Skene 1979, Maximum likelihood estimation of observer error-rates using the EM algorithm.

    >>> found = dawid_skene({"ann": {1: 1, 2: 2, 3: 1}, "bob": {1: 1, 2: 2, 3: 1}, "cid": {1: 1, 2: 2, 3: 2}})
    >>> found.labels, round(found.competence["ann"], 2), found.competence["cid"] < 1
    ([1.0, 2.0, 1.0], 1.0, True)
    """
    if outer not in ("annotator", "item"):
        raise ValueError(f"outer is {outer!r}; it must say whether the outer keys are 'annotator' or 'item'.")
    data = _encoded(labels, outer, value_domain)
    overlapping = _overlapping(data)
    if not overlapping.any():
        empty: dict[str, Any] = {name: [] for name in ("class_marginals", "classes", "labels", "item_names")}
        empty |= {"error_rates": {}, "competence": {}, "posteriors": np.empty((0, 0))}
        run = {"n_iterations": 0, "converged": False, "n": len(data.code)}
        reason = "no two annotators share an item" if len(data.code) else "there are no labels"
        return Result.undefined(reason, "log_likelihood", **empty, **run)
    fit = _Fit(*_alike(data))
    posteriors, step, iterations = fit.vote_shares(), np.inf, 0
    while step > tolerance and iterations < max_iterations:
        better, _ = fit.expect(*fit.maximise(posteriors))
        step, posteriors, iterations = float(np.abs(better - posteriors).max()), better, iterations + 1
    run = {"n_iterations": iterations, "converged": step <= tolerance}
    return _result(data, fit, posteriors, overlapping, run)


def _overlapping(data: Ratings) -> npt.NDArray[np.bool_]:
    """Return whether each annotator shares an item with another annotator."""
    shared = np.zeros(data.n_annotators, dtype=bool)
    shape = data.n_units, data.n_annotators
    labelled = scipy.sparse.csr_matrix((np.ones(len(data.code)), (data.unit, data.annotator)), shape=shape)
    shared[labelled[np.diff(labelled.indptr) > 1].indices] = True
    return shared


def _alike(data: Ratings) -> tuple[Ratings, Codes, Codes]:
    """Return groups of items with equal labels by the same annotators, their sizes, and each item's group.

    Items of a group have the same posterior. A scale of five points has few groups, even for many items.
    """
    kind, first = pd.factorize(_labels_of_units(data))
    example = np.unique(kind, return_index=True)[1]
    kept = np.isin(data.unit, example)
    place = np.full(data.n_units, -1)
    place[example] = np.arange(len(first))
    kinds = Ratings(
        data.annotators,
        range(len(first)),
        data.categories,
        data.annotator[kept],
        place[data.unit[kept]],
        data.code[kept],
    )
    times = np.bincount(kind, minlength=len(first))
    times[kinds.per_unit == 0] = 0
    return kinds, times, np.asarray(kind, dtype=np.int64)


def _labels_of_units(data: Ratings) -> npt.NDArray[Any]:
    """Return one key per unit for its labels and annotators: one integer if it fits, else bytes."""
    width, longest = data.n_annotators * len(data.categories), int(data.per_unit.max(initial=0))
    place = data.annotator * len(data.categories) + data.code
    order = np.argsort(data.unit * width + place, kind="stable")
    keys, ends = place[order], np.cumsum(data.per_unit)
    if (width + 1) ** longest >= 2**62:
        labels = [keys[end - size : end].tobytes() for end, size in zip(ends, data.per_unit, strict=True)]
        return np.array(labels, dtype=object)
    unit = data.unit[order]
    power = np.arange(len(keys)) - (ends - data.per_unit)[unit]
    packed = np.zeros(data.n_units, dtype=np.int64)
    rated = data.per_unit > 0
    parts = (keys + 1) * (width + 1) ** power
    packed[rated] = np.add.reduceat(parts, (ends - data.per_unit)[rated]) if len(parts) else 0
    return packed


@dataclass(frozen=True)
class _Fit:
    """The data to fit: kinds of items, the number of items of each kind (``times``), and each item's kind."""

    data: Ratings
    times: Codes
    kind: Codes

    def vote_shares(self) -> Numbers:
        counts = self.data.counts.astype(float)
        return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))

    def maximise(self, posteriors: Numbers) -> tuple[Numbers, Numbers]:
        """Return class marginals and error rates (annotators x true class x label) from the items' posteriors."""
        d, q = self.data, len(self.data.categories)
        marginals = self.times @ posteriors / self.times.sum()
        cell, weighted = d.annotator * q + d.code, posteriors * self.times[:, None]
        sums = [np.bincount(cell, weighted[d.unit, k], d.n_annotators * q) for k in range(q)]
        errors = np.stack(sums, axis=1).reshape(d.n_annotators, q, q).transpose(0, 2, 1)
        totals = errors.sum(axis=2, keepdims=True)
        return marginals, np.divide(errors, totals, out=np.zeros_like(errors), where=totals > 0)

    def expect(self, marginals: Numbers, errors: Numbers) -> tuple[Numbers, float]:
        """Return the items' posteriors and the log-likelihood."""
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
        return shares / total, float(self.times @ (np.log(total) + top)[:, 0])


def _result(
    data: Ratings, fit: _Fit, of_kinds: Numbers, overlapping: npt.NDArray[np.bool_], run: dict[str, Any]
) -> Result:
    marginals, errors = fit.maximise(of_kinds)
    likelihood = fit.expect(marginals, errors)[1]
    posteriors, items = of_kinds[fit.kind], np.flatnonzero(data.per_unit)
    named = [data.units[int(k)] for k in items]
    classes = data.categories.tolist()
    right = {
        name: float(marginals @ np.diag(errors[k]))
        for k, name in enumerate(data.annotators)
        if overlapping[k]
    }
    return Result(
        run,
        class_marginals=marginals.tolist(),
        classes=classes,
        error_rates={
            name: errors[k] for k, name in enumerate(data.annotators) if (data.annotator == k).any()
        },
        posteriors=posteriors[items],
        labels=[classes[k] for k in posteriors[items].argmax(axis=1)],
        item_names=named,
        competence=right,
        log_likelihood=likelihood,
        n=len(data.code),
        reason=None,
    )


def _encoded(labels: Any, outer: str, value_domain: Sequence[Any] | None) -> Ratings:
    """Return long-form labels as codes. A cell may contain several labels."""
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
    """Yield the outer key, inner key and value of every label."""
    if isinstance(labels, pd.DataFrame):
        labels = labels.to_dict(orient="index")
    rows = labels.items() if isinstance(labels, Mapping) else enumerate(labels)
    for name, row in rows:
        for item, cell in row.items() if isinstance(row, Mapping) else enumerate(row):
            for label in cell if isinstance(cell, (list, tuple)) else (cell,):
                if not is_missing(label):
                    yield name, item, label
