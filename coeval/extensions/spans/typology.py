"""Error spans, and typologies: their severities, categories and weights.

A typology is data: ``typologies.json`` has MQM core, WMT's MQM, ESA and FRANK, and a file in the same form defines
your own. Offsets count characters (code points) of the stored text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from coeval.errors import InputError
from coeval.rules.evaluation_rows import Count, Exact, Remark

FILE = Path(__file__).with_name("typologies.json")
MAX_NAME, MAX_CATEGORIES, MAX_SEVERITIES, MAX_FILE = 100, 300, 9, 200_000
PRINTABLE = r"^[^\x00-\x1f\x7f]*$"
Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME, pattern=PRINTABLE)
]
Title = Annotated[str, StringConstraints(max_length=2 * MAX_NAME, pattern=PRINTABLE)]
Weight = Annotated[float, Field(strict=True, ge=0, le=1000, allow_inf_nan=False)]


class Side(StrEnum):
    """The text of a span: the output, or the input if the output lacks something."""

    OUTPUT = "output"
    INPUT = "input"


class Scoring(StrEnum):
    """The source of a segment's score: the weights of its spans, or a person's score from 0 to 100."""

    MQM = "mqm"
    ESA = "esa"


@dataclass(frozen=True, slots=True)
class Span(Exact):
    """One error. Without ``start`` and ``end``, it is an omission without a place.

    The limits apply to spans that a browser sends.
    """

    start: Count | None
    end: Count | None
    severity: Annotated[str, Field(max_length=MAX_NAME)]
    category: Annotated[str, Field(max_length=MAX_NAME)] = ""
    side: Side = Side.OUTPUT
    note: Remark = ""

    @property
    def placed(self) -> bool:
        return self.start is not None and self.end is not None

    @property
    def edges(self) -> tuple[int, int]:
        """Return the offsets; the span must have a place."""
        assert self.start is not None and self.end is not None
        return self.start, self.end

    def same_place(self, other: Span) -> bool:
        return (self.side, self.start, self.end) == (other.side, other.start, other.end)

    def same_kind(self, other: Span) -> bool:
        return (self.severity, self.category) == (other.severity, other.category)

    def overlap(self, other: Span) -> int:
        """Return the number of characters that two spans in the same text share."""
        if self.side is not other.side or not (self.placed and other.placed):
            return 0
        (a, b), (c, d) = self.edges, other.edges
        return max(0, min(b, d) - max(a, c))


@dataclass(frozen=True, slots=True)
class Severity:
    """A severity; ``offered`` is False if it occurs only in files and people cannot choose it."""

    name: Name
    weight: Weight
    offered: bool = True


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of error; ``side`` is the text in which it is usually marked."""

    name: Name
    title: Title = ""
    side: Side = Side.OUTPUT


@dataclass(frozen=True, slots=True)
class Typology:
    """Severities with weights, categories, and exceptions to the weights.

    ``weights`` are pairs of a pattern for ``severity/category`` and a weight; the first match counts.

    >>> wmt = load_typology("wmt")
    >>> [wmt.weigh(Span(0, 1, *kind)) for kind in (("Major", "Style/Awkward"), ("Minor", "Fluency/Punctuation"))]
    [5.0, 0.1]
    """

    name: str
    title: Title
    severities: Annotated[tuple[Severity, ...], Field(min_length=1, max_length=MAX_SEVERITIES)]
    categories: Annotated[tuple[Category, ...], Field(max_length=MAX_CATEGORIES)] = ()
    scoring: Scoring = Scoring.MQM
    weights: Annotated[tuple[tuple[Title, Weight], ...], Field(max_length=MAX_CATEGORIES)] = ()

    def weigh(self, span: Span) -> float:
        """Return the weight of a span.

        Raises:
            InputError: the typology has no such severity.
        """
        severity, category = span.severity.strip().casefold(), span.category.strip().replace("_", " ")
        key = f"{severity}/{category.casefold()}"
        for pattern, weight in self.weights:
            if fnmatchcase(key, pattern.casefold()):
                return weight
        for offered in self.severities:
            if offered.name.casefold() == severity:
                return offered.weight
        names = ", ".join(offered.name for offered in self.severities)
        raise InputError(
            f"The typology “{self.title}” has no severity “{span.severity[:60]}”; its severities are: "
            f"{names}. Use another typology, or add the severity to your own."
        )

    def score(self, spans: Iterable[Span]) -> float:
        """Return minus the sum of the weights; 0 means no errors.

        >>> load_typology("wmt").score([Span(0, 1, "minor", "Fluency/Punctuation")] * 3)
        -0.3
        """
        return 0.0 - round(math.fsum(self.weigh(span) for span in spans), 9)

    def check_span(self, span: Span, source: str, output: str) -> Span:
        """Return the span if a person or a model may mark it.

        Raises:
            InputError: it is not in the text, or the typology does not offer its severity or category.
        """
        if span.severity not in {severity.name for severity in self.severities if severity.offered}:
            raise InputError(
                f"“{span.severity[:60]}” is not a severity of “{self.title}”: choose another one."
            )
        names = {category.name for category in self.categories}
        if (span.category not in names) if names else span.category:
            raise InputError(
                f"“{span.category[:60]}” is not a category of “{self.title}”: choose another one."
            )
        if not span.placed:
            if span.start is not None or span.end is not None:
                raise InputError("A span has only one edge: give its start and its end, or neither.")
            return span
        start, end = span.edges
        length = len(output if span.side is Side.OUTPUT else source)
        if not 0 <= start < end <= length:
            raise InputError(
                f"A span from {start:,} to {end:,} is not in the {span.side}, which has {length:,} characters: mark it "
                "again."
            )
        return span

    def to_json(self) -> dict[str, Any]:
        """Return the typology in the form of its file."""
        return FORM.dump_python(self, mode="json", exclude={"name"}, exclude_defaults=True)


FORM = TypeAdapter(Typology)


@cache
def _read_shipped() -> dict[str, Typology]:
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: parse_typology(value, name) for name, value in stored.items()}


def list_typologies() -> list[Typology]:
    """Return the typologies that come with CoEval."""
    return list(_read_shipped().values())


def load_typology(name: str) -> Typology:
    """Return the typology with that name, or load one from a JSON file.

    Raises:
        InputError: no typology has that name, or the file is invalid.
    """
    shipped = _read_shipped()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    if path.suffix != ".json":
        raise InputError(
            f"There is no typology “{name[:80]}”: use {', '.join(shipped)}, or a path that ends in .json."
        )
    try:
        if path.stat().st_size > MAX_FILE:
            raise InputError(
                f"{path} has more than {MAX_FILE:,} bytes, the limit for a typology: shorten it."
            )
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as a typology: {str(error)[:200]}.") from error
    return parse_typology(value, path.stem)


def parse_typology(value: Any, name: str) -> Typology:
    """Parse a typology from a JSON value.

    Raises:
        InputError: a part is missing or invalid; the message names the part.
    """
    if not isinstance(value, Mapping):
        raise InputError(f"The typology “{name[:80]}” must be a JSON object with “severities”.")
    title = value.get("title") or name[:MAX_NAME]
    try:
        typology = FORM.validate_python({**value, "name": name, "title": title})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"The typology “{name[:80]}”: {place}: {first['msg']}.") from error
    if not any(severity.offered for severity in typology.severities):
        raise InputError(f"The typology “{name[:80]}” has no severity: list at least one under “severities”.")
    for parts in (typology.severities, typology.categories):
        if len({part.name.casefold() for part in parts}) < len(parts):
            raise InputError(f"The typology “{name[:80]}” lists a name twice: remove one of the two.")
    return typology
