"""A first look through a table of ratings: what it says as a whole, in memory that does not grow with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from coeval.datasets.ratings.rating_rows import Rating
from coeval.datasets.ratings.rating_scales import Scales
from coeval.datasets.seen import Seen
from coeval.datasets.text import shorten
from coeval.domain import Group, Scale
from coeval.errors import InputError


def read_group(text: str) -> Group | None:
    """The group that a cell names; None for other words. Files of earlier versions say researcher for the team.

    >>> read_group("crowd"), read_group("researcher"), read_group("arm b")
    (<Group.CROWD: 'crowd'>, <Group.TEAM: 'team'>, None)
    """
    named = "team" if text == "researcher" else text
    return Group(named) if named in set(Group) else None


@dataclass(slots=True)
class Survey:
    """What was met so far. ``runs`` are the judges, in order of appearance, each with its numbers of samples."""

    scales: Scales = field(default_factory=Scales)
    runs: dict[str, set[float | None]] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    """The group of each person whose ratings name one."""
    unknown_groups: int = 0
    people: int = 0
    """People's ratings that have a score."""
    missing: int = 0
    unscored: int = 0
    fewer: int = 0
    ratings: Seen = field(default_factory=Seen)
    instances: Seen | None = None
    """The instances rated, where it is asked whether they are known."""

    def add(self, rating: Rating) -> None:
        """Take in a rating; raises InputError where its scale cannot be."""
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
                f"{rating.place}: counts '{shorten(rating.person)}' as {group}, and a row before it as "
                f"{self.groups[rating.person]}; give each person one group."
            )

    def tell(self, scales: dict[str, Scale]) -> Iterator[str]:
        """What was left out or is odd, with counts."""
        for text, count in (
            ("People's ratings without a score, left out", self.missing),
            (
                f"Ratings whose group is none of {', '.join(Group)}, taken as naming none",
                self.unknown_groups,
            ),
            ("Models' ratings without a score, kept as unscored", self.unscored),
            ("Models' scores that rest on fewer samples than were asked for", self.fewer),
            (
                "Ratings off the scale, or people's between its steps, kept as they are",
                self.scales.count_off(scales),
            ),
        ):
            if count:
                yield f"{text}: {count:,}."


def survey_ratings(ratings: Iterable[Rating], known: Seen | None) -> Survey:
    """Go through the ratings once.

    Raises InputError at the first one that is broken, else for one given twice, or one of an instance that
    is not among the known ones; ``known`` is None where any instance may be rated.
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
                f"{rating.place}: rates instance '{shorten(rating.instance)}', which is not among the instances; "
                "correct the id or remove the row."
            )
        key = _key(rating)
        if hash(key) in repeated and places.setdefault(key, rating.place) != rating.place:
            raise InputError(
                f"{rating.place}: rates '{shorten(rating.criterion)}' of instance '{shorten(rating.instance)}' by "
                f"'{shorten(rating.person or rating.run)}' again, after {places[key]}; keep one."
            )


def _key(rating: Rating) -> tuple[str, ...]:
    return rating.instance, rating.criterion, rating.person, rating.run
