"""Read a table of ratings in any shape into codes, with one entry per existing rating."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

RatingsLike = Any
"""Annotators x units, with missing ratings: DataFrame, array, list of lists, {annotator: {unit: label}}."""

Codes = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Kinds:
    """The distinct rows (kinds) of a table of counts, and the kind of each row."""

    rows: Codes
    of_unit: Codes

    def among(self, kept: npt.NDArray[np.bool_]) -> Kinds:
        """Return the kinds of the units that are marked in ``kept``."""
        used, place = renumbered(self.of_unit[kept])
        return Kinds(self.rows[used], place)

    @cached_property
    def times(self) -> Codes:
        """Return the number of units of each kind."""
        return np.bincount(self.of_unit, minlength=len(self.rows))


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings in long form: ``annotator[k]`` gave ``categories[code[k]]`` to ``unit[k]``."""

    annotators: tuple[Hashable, ...]
    units: Sequence[Hashable] | Codes
    categories: npt.NDArray[Any]
    annotator: Codes
    unit: Codes
    code: Codes

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    @property
    def n_units(self) -> int:
        return len(self.units)

    @cached_property
    def numbers(self) -> Numbers:
        """Return the categories as numbers. Words become 1, 2, 3 ... in order."""
        if self.categories.dtype.kind == "f":
            return self.categories
        return np.arange(1.0, len(self.categories) + 1)

    @cached_property
    def numeric(self) -> bool:
        """Return whether the categories are numbers."""
        return self.categories.dtype.kind == "f"

    @cached_property
    def counts(self) -> Codes:
        """Return units x categories: the number of annotators who gave each category."""
        width = len(self.categories)
        flat = np.bincount(self.unit * width + self.code, minlength=self.n_units * width)
        return flat.reshape(self.n_units, width)

    @cached_property
    def per_unit(self) -> Codes:
        """Return the number of ratings of each unit."""
        return np.bincount(self.unit, minlength=self.n_units)

    @cached_property
    def kinds(self) -> Kinds:
        """Return the kinds of units with equal counts. Kinds are few, so results are computed once per kind."""
        return find_kinds(self.counts)

    def where(self, keep: npt.NDArray[np.bool_]) -> Ratings:
        """Return only the ratings that are marked in ``keep``. Annotators, units and categories do not change."""
        return Ratings(
            self.annotators,
            self.units,
            self.categories,
            self.annotator[keep],
            self.unit[keep],
            self.code[keep],
        )

    def without(self, annotator: int) -> Ratings:
        """Return the ratings without those of the annotator at this position."""
        return self.where(self.annotator != annotator)

    def table(self) -> Numbers:
        """Return the categories' numbers as annotators x units, nan if missing."""
        dense = np.full((self.n_annotators, self.n_units), np.nan)
        dense[self.annotator, self.unit] = self.numbers[self.code]
        return dense


LOW = 1_000_000
"""Keys below this number are numbered with a lookup table, which is quicker than sorting."""


def find_kinds(table: Codes) -> Kinds:
    """Return the distinct rows of a table of counts (units x categories), and the row of each unit."""
    if not table.size:
        return Kinds(table[:0], np.zeros(len(table), dtype=np.int64))
    keys = _packed(table)
    if keys.dtype == np.int64 and int(keys.max()) < LOW:
        used, kind = renumbered(keys)
        first = np.empty(len(used), dtype=np.int64)
        first[kind] = np.arange(len(table))
    else:
        _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    return Kinds(table[first], np.asarray(kind, dtype=np.int64))


def _packed(table: Codes) -> npt.NDArray[Any]:
    """Return one key per row: an integer with the row's digits if 63 bits suffice, else the row's bytes."""
    base = int(table.max()) + 1
    if base ** table.shape[1] < 2**62:
        return table @ (base ** np.arange(table.shape[1], dtype=np.int64))
    narrow = np.ascontiguousarray(table.astype(np.int32))
    return narrow.view(np.dtype((np.void, narrow.itemsize * narrow.shape[1]))).reshape(-1)


def renumbered(codes: Codes) -> tuple[Codes, Codes]:
    """Return the distinct codes in order, and each code's position among them, without sorting low codes."""
    seen = np.zeros(int(codes.max(initial=-1)) + 1, dtype=bool)
    seen[codes] = True
    places = np.flatnonzero(seen)
    return places, (np.cumsum(seen) - 1)[codes]


def parse_ratings(ratings: RatingsLike) -> Ratings:
    """Read annotators x units into codes.

    Parameters
    ----------
    ratings : DataFrame, array, list of lists or mapping of mappings, annotators x units
        nan, None, NA and empty text are missing. Categories may be numbers or words; numbers written as
        text are read as numbers.

    Raises
    ------
    ValueError
        If the table is not two-dimensional, or contains an infinite number.
    """
    if isinstance(ratings, Ratings):
        return ratings
    frame = _as_frame(ratings)
    cells = _as_cells(frame)
    present = ~pd.isna(cells)
    rows, columns = np.nonzero(present)
    return encode_ratings(rows, columns, cells[rows, columns], tuple(frame.index), list(frame.columns))


def encode_ratings(
    annotator: npt.ArrayLike,
    unit: npt.ArrayLike,
    values: npt.NDArray[Any],
    annotators: tuple[Hashable, ...],
    units: Sequence[Hashable],
) -> Ratings:
    """Return long-form ratings as codes: ``annotator[k]`` gave ``values[k]`` to ``unit[k]``. None may be missing."""
    code, categories = pd.factorize(_as_categories(values), sort=True)
    return Ratings(
        annotators,
        units,
        np.asarray(categories),
        np.asarray(annotator, dtype=np.int64),
        np.asarray(unit, dtype=np.int64),
        np.asarray(code, dtype=np.int64),
    )


def parse_vector(values: Any, name: str) -> Numbers:
    """Return a vector of numbers, nan if missing. Messages call it ``name``."""
    if isinstance(values, (np.ndarray, pd.Series)) and values.ndim == 1 and values.dtype == np.float64:
        vector = np.array(values)
    else:
        vector = _read_vector(values, name)
    if np.isinf(vector).any():
        raise ValueError(f"{name} holds an infinite number; leave it out or mark it missing (nan).")
    return vector


def _read_vector(values: Any, name: str) -> Numbers:
    try:
        return pd.to_numeric(pd.Series(_as_vector(values), dtype=object)).to_numpy(float, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}.") from None


def _as_vector(values: Any) -> list[Any]:
    vector = list(values.to_numpy() if isinstance(values, (pd.Series, pd.Index)) else values)
    if any(isinstance(entry, (list, tuple, np.ndarray)) for entry in vector[:1]):
        raise ValueError("Expected one label for each unit (a vector), but got a table.")
    return vector


def _as_frame(ratings: RatingsLike) -> pd.DataFrame:
    if isinstance(ratings, pd.DataFrame):
        return ratings
    if isinstance(ratings, Mapping):
        return pd.DataFrame.from_dict(dict(ratings), orient="index")
    rows = ratings if isinstance(ratings, np.ndarray) else list(ratings)
    flat = rows.ndim != 2 if isinstance(rows, np.ndarray) else any(np.ndim(row) != 1 for row in rows)
    if flat:
        raise ValueError("Ratings must be a table, annotators x units: give one row for each annotator.")
    if not isinstance(rows, np.ndarray) and len({len(row) for row in rows}) > 1:
        raise ValueError(
            f"Every annotator needs one cell a unit, but the rows have {[len(r) for r in rows]} cells."
        )
    return pd.DataFrame(rows)


def _as_cells(frame: pd.DataFrame) -> npt.NDArray[Any]:
    """Return the cells as floats if they are all numbers, else as objects with None for missing cells."""
    if all(pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes):
        return frame.to_numpy(dtype=float, na_value=np.nan)
    cells = frame.astype(object).to_numpy(dtype=object, copy=True)
    cells[pd.isna(cells)] = None
    blank = np.frompyfunc(lambda cell: isinstance(cell, str) and cell.strip() in ("", "nan"), 1, 1)
    cells[blank(cells).astype(bool)] = None
    return cells


def _as_categories(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return floats if every value is a number or its text, else texts."""
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return np.array([str(value) for value in values], dtype=object)
    if np.isinf(numbers).any():
        raise ValueError("Ratings hold an infinite number; leave it out or mark it missing (nan).")
    return numbers
