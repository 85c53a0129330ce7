"""The checked rows of a table of ratings, and a first pass that determines the scales of the criteria."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from coeval.datasets.source import Seen
from coeval.datasets.tables.instances import MAX_NAME
from coeval.datasets.tables.table import Table, match_columns, require_columns
from coeval.datasets.text import shorten
from coeval.domain import Group, Scale
from coeval.domain.people import MAX_PERSON_NAME
from coeval.errors import InputError

# The checked rows of a table of ratings.

RATING_FIELDS = (
    "instance", "criterion", "annotator", "group", "run", "score", "scale", "low", "high", "n_samples", "n_valid",
    "probabilities",
)  # fmt: skip
"""The fields of a rating: by a person (``annotator``) or by a model (``run``)."""

MOST_KNOWN = 2_000
"""The number of cached rows. The cache speeds up reading of similar rows."""

MISSING = ("", "na", "n/a", "nan", "null", "none")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
"""A number in a file. Python's ``float`` would also accept "1_0" and digits of other scripts."""

_SCALE = re.compile(r"[\[(]?\s*(-?\d{1,6})\s*(?:-|–|,|\.\.|to)\s*(-?\d{1,6})\s*[\])]?")


class Rating(NamedTuple):
    """One rating, by either a ``person`` or a ``run``; ``score`` is None if missing.

    ``group`` is the person's group as written. ``scale`` is the scale in the row: low and high, each None if not
    stated.
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
    """The model's probabilities of the answers as JSON; empty if the table has none."""

    @property
    def place(self) -> str:
        """Return the place of the rating in the file."""
        return self.table.place(self.line)


def load_ratings(table: Table, mapping: Mapping[str, str] | None) -> Iterator[Rating]:
    """Yield every rating of a table.

    Raises InputError for a missing column, an empty instance or criterion, a score that is not a number, or a row
    without exactly one of annotator and run.
    """
    columns = match_columns(table, RATING_FIELDS, mapping, guess=True)
    require_columns(table, columns, ("instance", "criterion", "score"))
    if not {"annotator", "run"} & set(columns):
        require_columns(table, columns, ("annotator",))
    return _read_rows(table, columns)


def _read_rows(table: Table, columns: Mapping[str, str]) -> Iterator[Rating]:
    """Yield one rating per row. If a row differs from an earlier one only in its instance, as most rows do,
    fields are reused.
    """
    at = columns["instance"]
    others = [column for field, column in columns.items() if field != "instance"]
    seen: dict[tuple[str, ...], tuple[Any, ...]] = {}
    for line, cells, _ in table.rows():
        key = tuple([cells[column] for column in others])
        rest = seen.get(key)
        instance = cells[at].strip()
        if rest is not None and 0 < len(instance) <= MAX_NAME:
            yield Rating(table, line, instance, *rest)
            continue
        texts = {field: cells[column].strip() for field, column in columns.items()}
        rating = _Reader(table, columns, line, texts).read()
        if len(seen) == MOST_KNOWN:
            seen.clear()
        seen[key] = rating[3:]
        yield rating


@dataclass(frozen=True, slots=True)
class _Reader:
    """One row, with access to its fields by name."""

    table: Table
    columns: Mapping[str, str]
    line: int
    texts: Mapping[str, str]

    def read(self) -> Rating:
        person, run = self._text("annotator"), self._text("run")
        if bool(person) == bool(run):
            wrong = "both an annotator and a run" if person else "neither an annotator nor a run"
            raise InputError(
                f"{self.table.place(self.line)}: names {wrong}; a rating needs either a person (annotator) or a "
                "model (run)."
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
                f"{self._place('annotator')}: has {len(name):,} characters; shorten the person's name to "
                f"{MAX_PERSON_NAME}."
            )
        return name

    def _place(self, field: str) -> str:
        return self.table.place(self.line, self.columns[field])

    def _text(self, field: str) -> str:
        text = self.texts.get(field)
        if text and len(text) > MAX_NAME:
            raise InputError(
                f"{self._place(field)}: has {len(text):,} characters; shorten it to {MAX_NAME:,}."
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
                f"{self._place(field)}: contains '{shorten(text)}', which is not a number; write a number "
                "or leave it empty."
            )
        return number

    def _scale(self) -> tuple[int | None, int | None]:
        text = self._text("scale")
        if not text:
            return self._whole("low"), self._whole("high")
        scale = parse_scale(text)
        if scale is None:
            raise InputError(
                f"{self._place('scale')}: contains '{shorten(text)}'; write a scale such as 1-5."
            )
        return scale

    def _whole(self, field: str) -> int | None:
        number = self._number(field)
        if number is not None and not number.is_integer():
            raise InputError(
                f"{self._place(field)}: contains {number:g}; use whole numbers for the ends of a scale."
            )
        return None if number is None else int(number)


@lru_cache(maxsize=1_000)
def _parse_number(text: str) -> float | None:
    """Return a number, None for an empty text or a word such as "none", or NaN for any other text."""
    if text.casefold() in MISSING:
        return None
    return float(text) if _NUMBER.fullmatch(text) else math.nan


@lru_cache(maxsize=1_000)
def parse_scale(text: str) -> tuple[int, int] | None:
    """Return the ends of a scale such as "1-5", or None for another text."""
    match = _SCALE.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


# The scale of each criterion in a table of ratings: the stated one, else one inferred from the ratings.

MAX_STEPS = 101
"""The largest number of steps of a scale: 0-100."""

LIKERT_7 = 7
_ENDS = (1, 5, LIKERT_7, 10, 100)
"""The highest scores of the usual scales. No usual scale reaches from 0 to 7."""


def infer_scale(scores: Iterable[float]) -> Scale | None:
    """Return the first usual scale that contains the scores (0-1, 1-5, 0-5, 1-7, 1-10, 0-10, 0-100), or None.

    >>> infer_scale([0.2, 1]), infer_scale([2, 4]), infer_scale([0, 7]), infer_scale([350])
    (Scale(low=0, high=1), Scale(low=1, high=5), Scale(low=0, high=10), None)
    """
    observed = [*scores]
    if not observed:
        return Scale()
    low, high = math.floor(min(observed)), math.ceil(max(observed))
    if low >= 0:
        ends = _ENDS if low else (end for end in _ENDS if end != LIKERT_7)
        end = next((end for end in ends if high <= end), high)
        return Scale(0 if low < 1 or end in (1, 100) else 1, end) if end < MAX_STEPS else None
    return Scale(low, max(high, -low)) if max(high, -low) - low < MAX_STEPS else None


MAX_TASK_STEPS = 11


def share_scale(scales: Iterable[Scale]) -> Scale:
    """Return the criteria's common scale for the task; the default scale if they differ or it is too long."""
    shared = set(scales)
    scale = shared.pop() if len(shared) == 1 else Scale()
    return scale if len(scale.steps) <= MAX_TASK_STEPS else Scale()


@dataclass(slots=True)
class Scales:
    """The scales stated so far, and the number of scores at each step."""

    stated: dict[str, Scale | None] = field(default_factory=dict)
    """The stated scale of every criterion, in order of appearance; None if no row states one."""
    scores: Counter[tuple[str, bool, int, bool]] = field(default_factory=Counter)
    """(criterion, by a person, step at or below the score, on that step) -> count."""

    def add(self, rating: Rating) -> None:
        """Count a rating; raise InputError for a criterion with two scales or an unusable one."""
        self._note_scale(rating)
        if rating.score is not None:
            step = math.floor(rating.score)
            self.scores[rating.criterion, bool(rating.person), step, step == rating.score] += 1

    def _note_scale(self, rating: Rating) -> None:
        low, high = rating.scale
        stated = self.stated.setdefault(rating.criterion, None)
        if low is None or high is None or stated == Scale(low, high):
            return
        scale = _check(Scale(low, high), rating.place)
        if stated is not None:
            raise InputError(
                f"{rating.place}: gives '{shorten(rating.criterion)}' the scale {scale}, but an earlier "
                f"row gives it {stated}; use one scale per criterion."
            )
        self.stated[rating.criterion] = scale

    def choose(self) -> tuple[dict[str, Scale], tuple[str, ...]]:
        """Return the scale of every criterion, in order of appearance, with notes on inferred scales.

        If no row states a scale, it is the usual scale that contains people's scores, else the models' scores. Scores
        from 0 to 1 are a scale of their own; all other criteria share one, because one of them may not use every step.

        Raises InputError for a range longer than ``MAX_STEPS``.
        """
        inferred = self._infer([name for name, scale in self.stated.items() if scale is None])
        scales = {name: scale or inferred[name] for name, scale in self.stated.items()}
        if not inferred:
            return scales, ()
        whose = "people's" if any(by_person for _, by_person, _, _ in self.scores) else "the models'"
        notes = []
        for scale in dict.fromkeys(inferred.values()):
            names = [name for name, each in inferred.items() if each == scale]
            ends = self._ends(names)
            seen = f"{whose} ratings, which reach from {ends[0]} to {ends[1]}" if ends else "no ratings"
            notes.append(
                f"The file states no scale for {shorten(', '.join(names), 200)}; {scale} was taken from {seen}. State "
                "another under Scale, or with --scale."
            )
        return scales, tuple(notes)

    def _infer(self, names: Sequence[str]) -> dict[str, Scale]:
        ends = {name: self._ends([name]) for name in names}
        rest = [
            name for name, each in ends.items() if each is None or each[0] < 0 or each[1] > 1 or each[0] == 1
        ]
        shared = self._ends(rest)
        scale = infer_scale(shared or ())
        if scale is None:
            low, high = shared or (0, 0)
            raise InputError(
                f"the ratings reach from {low} to {high}: a scale must rise and have at most {MAX_STEPS} steps. State "
                "it in a column 'scale', such as 1-5."
            )
        return {name: scale if name in rest else Scale(0, 1) for name in names}

    def _ends(self, names: Collection[str]) -> tuple[int, int] | None:
        """Return the lowest and highest step on these criteria: people's, or models' if no person scored."""
        people = any(by_person for _, by_person, _, _ in self.scores)
        steps = [
            (step, step if whole else step + 1)
            for name, by_person, step, whole in self.scores
            if name in names and by_person == people
        ]
        return (min(low for low, _ in steps), max(high for _, high in steps)) if steps else None

    def count_off(self, scales: dict[str, Scale]) -> int:
        """Return the number of scores that are off their scale, and of people's scores between its steps."""
        return sum(
            n
            for (criterion, by_person, step, whole), n in self.scores.items()
            if not _fits(scales[criterion], by_person, step, whole)
        )


def _fits(scale: Scale, by_person: bool, step: int, whole: bool) -> bool:
    on = scale.low <= step <= (scale.high if whole else scale.high - 1)
    return on and (whole or not by_person)


def _check(scale: Scale, place: str) -> Scale:
    if not 0 < scale.high - scale.low < MAX_STEPS:
        raise InputError(
            f"{place}: the scale {scale} must rise and have at most {MAX_STEPS} steps; state the scale in "
            "a column 'scale', such as 1-5."
        )
    return scale


# A first pass through a table of ratings, in memory that does not grow with the table.


def read_group(text: str) -> Group | None:
    """Return the group in a cell; None for other words.

    >>> read_group("crowd"), read_group("team"), read_group("arm b")
    (<Group.CROWD: 'crowd'>, <Group.TEAM: 'team'>, None)
    """
    return Group(text) if text in set(Group) else None


@dataclass(slots=True)
class Survey:
    """The results of the first pass. ``runs`` are the judges in order of appearance, with their sample numbers."""

    scales: Scales = field(default_factory=Scales)
    runs: dict[str, set[float | None]] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    """The group of each person, if the ratings name one."""
    unknown_groups: int = 0
    people: int = 0
    """The number of people's ratings with a score."""
    missing: int = 0
    unscored: int = 0
    fewer: int = 0
    ratings: Seen = field(default_factory=Seen)
    instances: Seen | None = None
    """The rated instances, if the caller checks whether they are known."""

    def add(self, rating: Rating) -> None:
        """Add a rating; raise InputError if its scale or group contradicts earlier ratings."""
        self.scales.add(rating)
        self.ratings.add(_key(rating))
        if self.instances is not None:
            self.instances.add(rating.instance)
        if rating.run:
            self.runs.setdefault(rating.run, set()).add(rating.n_samples)
        self._add_group(rating)
        self.people += bool(rating.person) and rating.score is not None
        self.missing += bool(rating.person) and rating.score is None
        self.unscored += bool(rating.run) and rating.score is None
        self.fewer += rating.n_valid is not None and rating.n_valid < (rating.n_samples or 0)

    def _add_group(self, rating: Rating) -> None:
        if not rating.group:
            return
        group = read_group(rating.group)
        self.unknown_groups += group is None
        if group is not None and self.groups.setdefault(rating.person, group) is not group:
            raise InputError(
                f"{rating.place}: puts '{shorten(rating.person)}' in the group {group}, but an earlier "
                f"row says {self.groups[rating.person]}; give each person one group."
            )

    def tell(self, scales: dict[str, Scale]) -> Iterator[str]:
        """Yield notes, with counts, on data that was left out or is unusual."""
        for text, count in (
            ("People's ratings without a score, left out", self.missing),
            (
                f"Ratings with a group other than {', '.join(Group)}, read without a group",
                self.unknown_groups,
            ),
            ("Models' ratings without a score, kept as unscored", self.unscored),
            ("Models' scores from fewer samples than requested", self.fewer),
            (
                "Ratings off the scale, and people's ratings between its steps, kept unchanged",
                self.scales.count_off(scales),
            ),
        ):
            if count:
                yield f"{text}: {count:,}."


def survey_ratings(ratings: Iterable[Rating], known: Seen | None) -> Survey:
    """Read all ratings once.

    Raises InputError for the first broken rating, or else for a duplicate rating or one of an unknown instance.
    ``known`` is None if any instance may be rated.
    """
    survey = Survey(instances=None if known is None else Seen())
    for rating in ratings:
        survey.add(rating)
    unknown = survey.instances.beyond(known) if survey.instances and known else set()
    repeated = survey.ratings.repeated()
    if unknown or repeated:
        _refuse(ratings, unknown, repeated)
    return survey


def _refuse(ratings: Iterable[Rating], unknown: Collection[int], repeated: Collection[int]) -> None:
    places: dict[tuple[str, ...], str] = {}
    for rating in ratings:
        if hash(rating.instance) in unknown:
            raise InputError(
                f"{rating.place}: rates instance '{shorten(rating.instance)}', which does not exist; "
                "correct the id or remove the row."
            )
        key = _key(rating)
        if hash(key) in repeated and places.setdefault(key, rating.place) != rating.place:
            raise InputError(
                f"{rating.place}: rates '{shorten(rating.criterion)}' of instance '{shorten(rating.instance)}' "
                f"by '{shorten(rating.person or rating.run)}' a second time, after {places[key]}; keep "
                "one."
            )


def _key(rating: Rating) -> tuple[str, ...]:
    return rating.instance, rating.criterion, rating.person, rating.run
