"""The answer of a query as columns of a table, block by block: no row and no text is kept twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from coeval.store.queries.bulk import reports

Block = Callable[[tuple[Any, ...]], npt.NDArray[Any]]
"""Turns the values of one column, of some rows, into an array."""


def is_among(ids: npt.NDArray[Any], known: Iterable[int]) -> npt.NDArray[np.bool_]:
    """Which of the ids are known ones."""
    return np.isin(ids, np.fromiter(known, np.int64))


def named(ids: npt.NDArray[Any], names: Mapping[int, str]) -> pd.Categorical:
    """A column of ids as the names that they stand for."""
    codes, present = pd.factorize(ids)
    return _categories(codes, [names[one] for one in present.tolist()])


def _categories(codes: npt.NDArray[Any], names: Sequence[str]) -> pd.Categorical:
    """What each code stands for; the categories are in the order of their names, as sorted texts would be."""
    order = sorted(set(names))
    place = {name: number for number, name in enumerate(order)}
    kind = np.int8 if len(order) < 128 else np.int32
    moved = np.array([place[name] for name in names], dtype=kind)
    codes = moved[codes] if len(moved) else codes.astype(kind)
    return pd.Categorical.from_codes(codes, categories=pd.Index(order, dtype=object))


def read_numbers(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Numbers, nan where missing."""
    if _are_missing(values):
        return np.full(len(values), np.nan)
    try:
        return np.fromiter(values, float, len(values))
    except TypeError:  # some are missing
        return np.array(values, dtype=float)


def read_whole(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    return np.fromiter(values, np.int64, len(values))


def read_small(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Whole numbers under 128."""
    return np.fromiter(values, np.int8, len(values))


def read_flags(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    return np.array(values, dtype=bool)


def read_texts(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    texts = np.empty(len(values), dtype=object)
    texts[:] = values
    return texts


def read_times(values: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Times of ISO 8601 as UTC, to the millisecond; NaT where missing."""
    if _are_missing(values):
        return np.full(len(values), "NaT", dtype="datetime64[ms]")
    there = [value for value in values if value is not None]
    moments = _read_written(there)
    if moments is None:
        parsed = pd.to_datetime(pd.Series(there, dtype=object), format="ISO8601", utc=True)
        moments = np.asarray(parsed.dt.tz_localize(None).to_numpy(dtype="datetime64[ms]"))
    if len(there) == len(values):
        return moments
    spread = np.full(len(values), "NaT", dtype="datetime64[ms]")
    spread[[value is not None for value in values]] = moments
    return spread


WRITTEN = "2026-01-31T09:30:00.000Z"
"""The one form that CoEval writes times in."""


def _read_written(texts: list[str]) -> npt.NDArray[Any] | None:
    """Times that all are of the form ``WRITTEN``, three times as fast as text by text; None where one is not."""
    width, joined = len(WRITTEN), "".join(texts)
    if len(joined) != width * len(texts) or not joined.isascii() or joined.count("Z") != len(texts):
        return None
    characters = np.frombuffer(joined.encode(), dtype="S1").reshape(-1, width)
    if not (characters[:, -1] == b"Z").all():
        return None
    try:
        # numpy knows no zone: the letter at the end is left out
        whole = np.ascontiguousarray(characters[:, :-1]).view(f"S{width - 1}").ravel()
        return whole.astype("datetime64[ms]")
    except ValueError:
        return None


def _are_missing(values: tuple[Any, ...]) -> bool:
    """Whether no value is there, as in the many columns that few studies fill."""
    return bool(values) and values[0] is None and values.count(None) == len(values)


def read_columns(result: reports.Result, kinds: Mapping[str, Block]) -> dict[str, npt.NDArray[Any]]:
    """Every column of an answer; those that ``kinds`` does not name are texts."""
    readers = [kinds.get(name, read_texts) for name in result.names]
    parts = [_Growing(reader(())) for reader in readers]
    for block in result.blocks():
        for part, reader, values in zip(parts, readers, zip(*block, strict=True), strict=True):
            part.add(reader(values))
    return {name: part.take() for name, part in zip(result.names, parts, strict=True)}


class _Growing:
    """A column that grows in place: a block for itself is small enough to stay with the process when it is freed."""

    def __init__(self, empty: npt.NDArray[Any]) -> None:
        self.values, self.size = np.empty(reports.BLOCK, dtype=empty.dtype), 0

    def add(self, block: npt.NDArray[Any]) -> None:
        end = self.size + len(block)
        if end > len(self.values):
            self._stretch(max(end, 3 * len(self.values) // 2))
        self.values[self.size : end] = block
        self.size = end

    def take(self) -> npt.NDArray[Any]:
        """The column, which this no longer holds."""
        if len(self.values) > self.size:
            self._stretch(self.size)
        values, self.values = self.values, self.values[:0].copy()
        return values

    def _stretch(self, size: int) -> None:
        if self.values.dtype == object:
            self.values = np.concatenate(
                [self.values[:size], np.empty(max(0, size - len(self.values)), object)]
            )
        else:
            self.values.resize(size, refcheck=False)
