"""The rows of a table of ratings, each checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coeval.datasets.instances import MAX_NAME
from coeval.datasets.table import Row, Table, match_columns, require_columns
from coeval.datasets.text import shorten
from coeval.errors import InputError

RATING_FIELDS = (
    "instance", "criterion", "annotator", "run", "score", "scale", "low", "high", "n_samples", "n_valid",
)  # fmt: skip
"""The fields of a rating: by a person (``annotator``) or by a model (``run``)."""

_MISSING = ("", "na", "n/a", "nan", "null", "none")
_SCALE = re.compile(r"[\[(]?\s*(-?\d{1,6})\s*(?:-|–|,|\.\.|to)\s*(-?\d{1,6})\s*[\])]?")


@dataclass(frozen=True, slots=True)
class Rating:
    """One rating. Exactly one of ``person`` and ``run`` is set; ``score`` is None where it is missing.

    ``scale`` is what the row states of the scale: low and high, either None where it does not say.
    """

    place: str
    instance: str
    criterion: str
    person: str
    run: str
    score: float | None
    scale: tuple[int | None, int | None]
    n_samples: float | None
    n_valid: float | None


def load_ratings(table: Table, mapping: Mapping[str, str] | None) -> Iterator[Rating]:
    """Every rating of a table.

    Raises InputError for a missing column, an empty instance or criterion, a score that is no number, a
    row with neither or both of annotator and run.
    """
    columns = match_columns(table, RATING_FIELDS, mapping, guess=True)
    require_columns(table, columns, ("instance", "criterion", "score"))
    if not {"annotator", "run"} & set(columns):
        require_columns(table, columns, ("annotator",))
    for row in table.rows():
        yield _Reader(table, columns, row).read()


@dataclass(frozen=True, slots=True)
class _Reader:
    """One row, its fields by name."""

    table: Table
    columns: Mapping[str, str]
    row: Row

    def read(self) -> Rating:
        person, run = self._text("annotator"), self._text("run")
        if bool(person) == bool(run):
            wrong = "both an annotator and a run" if person else "neither an annotator nor a run"
            raise InputError(
                f"{self._line()}: names {wrong}; a rating is a person's (annotator) or a model's (run)."
            )
        return Rating(
            place=self._line(),
            instance=self._required("instance"),
            criterion=self._required("criterion"),
            person=person,
            run=run,
            score=self._number("score"),
            scale=self._scale(),
            n_samples=self._number("n_samples"),
            n_valid=self._number("n_valid"),
        )

    def _line(self) -> str:
        return f"{self.table.name}, {self.table.unit} {self.row.line}"

    def _text(self, field: str) -> str:
        text = self.row.cells.get(self.columns.get(field, ""), "").strip()
        if len(text) > MAX_NAME:
            raise InputError(
                f"{self._place(field)}: has {len(text):,} characters and at most {MAX_NAME:,} fit; shorten it."
            )
        return text

    def _place(self, field: str) -> str:
        return self.table.place(self.row.line, self.columns[field])

    def _required(self, field: str) -> str:
        text = self._text(field)
        if not text:
            raise InputError(f"{self._place(field)}: is empty; name the {field} or remove the row.")
        return text

    def _number(self, field: str) -> float | None:
        text = self._text(field)
        if text.casefold() in _MISSING:
            return None
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InputError(
                f"{self._place(field)}: holds '{shorten(text)}', which is no number; write one or leave it empty."
            )
        return number

    def _scale(self) -> tuple[int | None, int | None]:
        text = self._text("scale")
        if text:
            found = _SCALE.fullmatch(text)
            if not found:
                raise InputError(f"{self._place('scale')}: holds '{shorten(text)}'; write a scale as in 1-5.")
            return int(found[1]), int(found[2])
        return self._whole("low"), self._whole("high")

    def _whole(self, field: str) -> int | None:
        number = self._number(field)
        if number is not None and not number.is_integer():
            raise InputError(
                f"{self._place(field)}: holds {number:g}; the ends of a scale are whole numbers."
            )
        return None if number is None else int(number)
