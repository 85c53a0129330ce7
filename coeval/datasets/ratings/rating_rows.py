"""The rows of a table of ratings, each checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from coeval.datasets.tables.instances import MAX_NAME
from coeval.datasets.tables.table import Table, match_columns, require_columns
from coeval.datasets.text import shorten
from coeval.domain.people import MAX_PERSON_NAME
from coeval.errors import InputError

RATING_FIELDS = (
    "instance", "criterion", "annotator", "group", "run", "score", "scale", "low", "high", "n_samples", "n_valid",
    "probabilities",
)  # fmt: skip
"""The fields of a rating: by a person (``annotator``) or by a model (``run``)."""

MOST_KNOWN = 2_000
"""Rows remembered to read those like them by."""

MISSING = ("", "na", "n/a", "nan", "null", "none")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
"""A number as files write it. Python's own ``float`` would take "1_0" for 10, and digits of other scripts."""

_SCALE = re.compile(r"[\[(]?\s*(-?\d{1,6})\s*(?:-|–|,|\.\.|to)\s*(-?\d{1,6})\s*[\])]?")


class Rating(NamedTuple):
    """One rating. Exactly one of ``person`` and ``run`` is set; ``score`` is None where it is missing.

    ``group`` is the person's as written; ``scale`` is what the row states of the scale: low and high, either None
    where it does not say.
    """

    table: Table
    line: int
    instance: str
    criterion: str
    person: str
    group: str
    run: str
    score: float | None
    scale: tuple[int | None, int | None]
    n_samples: float | None
    n_valid: float | None
    probabilities: str = ""
    """A model's probabilities of the answers, as JSON; empty where the table has none."""

    @property
    def place(self) -> str:
        """Where it stands, as the user finds it."""
        return f"{self.table.name}, {self.table.unit} {self.line}"


def load_ratings(table: Table, mapping: Mapping[str, str] | None) -> Iterator[Rating]:
    """Every rating of a table.

    Raises InputError for a missing column, an empty instance or criterion, a score that is no number, a
    row with neither or both of annotator and run.
    """
    columns = match_columns(table, RATING_FIELDS, mapping, guess=True)
    require_columns(table, columns, ("instance", "criterion", "score"))
    if not {"annotator", "run"} & set(columns):
        require_columns(table, columns, ("annotator",))
    return _read_rows(table, columns)


def _read_rows(table: Table, columns: Mapping[str, str]) -> Iterator[Rating]:
    """A rating of each row. Most rows differ from one before in their instance alone: that one says the rest."""
    at = columns["instance"]
    others = [column for field, column in columns.items() if field != "instance"]
    known: dict[tuple[str, ...], tuple[Any, ...]] = {}
    for line, cells, _ in table.rows():
        key = tuple([cells[column] for column in others])
        rest = known.get(key)
        instance = cells[at].strip()
        if rest is not None and 0 < len(instance) <= MAX_NAME:
            yield Rating(table, line, instance, *rest)
            continue
        texts = {field: cells[column].strip() for field, column in columns.items()}
        rating = _Reader(table, columns, line, texts).read()
        if len(known) == MOST_KNOWN:
            known.clear()
        known[key] = rating[3:]
        yield rating


@dataclass(frozen=True, slots=True)
class _Reader:
    """One row, its fields by name."""

    table: Table
    columns: Mapping[str, str]
    line: int
    texts: Mapping[str, str]

    def read(self) -> Rating:
        person, run = self._text("annotator"), self._text("run")
        if bool(person) == bool(run):
            wrong = "both an annotator and a run" if person else "neither an annotator nor a run"
            raise InputError(
                f"{self._line()}: names {wrong}; a rating is a person's (annotator) or a model's (run)."
            )
        return Rating(
            table=self.table,
            line=self.line,
            instance=self._required("instance"),
            criterion=self._required("criterion"),
            person=self._check_person(person),
            group=self._text("group").casefold() if person else "",
            run=run,
            score=self._number("score"),
            scale=self._scale(),
            n_samples=self._number("n_samples"),
            n_valid=self._number("n_valid"),
            probabilities=self._text("probabilities") if run else "",
        )

    def _check_person(self, name: str) -> str:
        if len(name) > MAX_PERSON_NAME:
            raise InputError(
                f"{self._place('annotator')}: has {len(name):,} characters and a person's name may have "
                f"{MAX_PERSON_NAME}; shorten it."
            )
        return name

    def _line(self) -> str:
        return f"{self.table.name}, {self.table.unit} {self.line}"

    def _place(self, field: str) -> str:
        return self.table.place(self.line, self.columns[field])

    def _text(self, field: str) -> str:
        text = self.texts.get(field)
        if text and len(text) > MAX_NAME:
            raise InputError(
                f"{self._place(field)}: has {len(text):,} characters and at most {MAX_NAME:,} fit; shorten it."
            )
        return text or ""

    def _required(self, field: str) -> str:
        text = self._text(field)
        if not text:
            raise InputError(f"{self._place(field)}: is empty; name the {field} or remove the row.")
        return text

    def _number(self, field: str) -> float | None:
        text = self._text(field)
        if not text:
            return None
        number = _parse_number(text)
        if number is not None and not math.isfinite(number):
            raise InputError(
                f"{self._place(field)}: holds '{shorten(text)}', which is no number; write one or leave it empty."
            )
        return number

    def _scale(self) -> tuple[int | None, int | None]:
        text = self._text("scale")
        if not text:
            return self._whole("low"), self._whole("high")
        scale = _parse_scale(text)
        if scale is None:
            raise InputError(f"{self._place('scale')}: holds '{shorten(text)}'; write a scale as in 1-5.")
        return scale

    def _whole(self, field: str) -> int | None:
        number = self._number(field)
        if number is not None and not number.is_integer():
            raise InputError(
                f"{self._place(field)}: holds {number:g}; the ends of a scale are whole numbers."
            )
        return None if number is None else int(number)


@lru_cache(maxsize=1_000)
def _parse_number(text: str) -> float | None:
    """A number; None for a word that means there is none, NaN for what is no number."""
    if text.casefold() in MISSING:
        return None
    return float(text) if _NUMBER.fullmatch(text) else math.nan


@lru_cache(maxsize=1_000)
def _parse_scale(text: str) -> tuple[int, int] | None:
    match = _SCALE.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None
