"""The tables of a study for its statistics, read once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from inspect import signature
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from coeval.stats.clusters import DOCUMENTS, INSTANCES, Clusters
from coeval.stats.rating_matrix import Codes, Numbers, Ratings, renumbered

LLM = "llm"
"""The model's name among the annotators."""

TEAM, EXPERT, CROWD = "team", "expert", "crowd"
ASSISTED, BLIND, FIRST, UNDRAFTED = "assisted", "blind", "first", "undrafted"
EVIDENCE, REASONS = "evidence", "reasons"
SHOWN_ARMS = (EVIDENCE, REASONS, ASSISTED)
"""The arms that show a part of the draft from the start. Each is compared with the blind arm."""

INSTANCE_COLUMNS = ("instance", "document", "system")
SCORE_COLUMNS = (
    "annotator",
    "group",
    "instance",
    "criterion",
    "arm",
    "score",
    "draft_score",
    "shown_score",
    "planted_score",
    "planted_error",
    "first_score",
    "wall_seconds",
    "active_seconds",
    "submitted_at",
)
ACTION_COLUMNS = ("arm", "kind", "action", "n")
DRAFT_COLUMNS = (
    "run",
    "run_label",
    "shown",
    "instance",
    "criterion",
    "score",
    "spread",
    "samples",
    "uncertainty",
)
COMPARISON_COLUMNS = (
    "run_label",
    "criterion",
    "document",
    "first",
    "second",
    "first_system",
    "second_system",
    "preference",
)

REFERENCE_COLUMNS = ("instance", "criterion", "score", "source")
VOTE_COLUMNS = ("version", "annotator", "group", "proposal", "action")

Found = TypeVar("Found")


def is_planted(scores: pd.DataFrame) -> pd.Series[bool]:
    """Return whether a wrong score was planted in each draft."""
    return scores["planted_score"].astype(bool)


@dataclass(frozen=True, eq=False)
class StudyFrames:
    """A study as tables.

    Parameters
    ----------
    task : the task's name.
    criteria : the distinct texts of the criteria, in order.
    scales : the lowest and highest score of each criterion.
    instances : ``instance, document, system``; document and system may be missing.
    scores : the latest submission of each annotator x instance x criterion: ``annotator``, ``group``
        (team, expert or crowd), ``instance``, ``criterion``, ``arm`` (assisted, blind, first), ``score`` (nan
        if missing), ``draft_score`` (of the draft shown or withheld, nan without one), ``shown_score`` (the
        score actually shown; nan if blind), ``planted_score`` (True if a deliberately wrong score was shown),
        ``planted_error`` (the deliberately wrong part, if any: score or evidence), ``first_score`` (in the arm
        ``first``: the score given before the draft was shown), ``wall_seconds`` and ``active_seconds`` (nan if
        untimed), ``submitted_at`` (UTC, a time or ISO 8601). Names and texts may be categorical, to save memory.
    actions : counts of actions: ``annotator, criterion, arm, kind, action, n``.
    drafts : ``run, run_label, shown, instance, criterion, score`` (nan if unscored), ``spread`` (standard
        deviation over samples, nan with one sample), ``samples`` (their scores; None with one sample),
        ``uncertainty`` (the standard deviation under the draft's probabilities, or else ``spread``), and optionally
        ``again`` (True if the model gave the score only when it was asked again).
    comparisons : comparisons of two outputs of one document: ``run_label, criterion, document, first, second``
        (instances, in the order shown), ``first_system, second_system`` ("" if unknown), ``preference`` (1 for the
        first, 0 for the second, .5 for a tie; nan if it could not be read).
    references : reference scores: ``instance, criterion, score, source``.
    votes : the last vote of each person on each proposed criterion: ``version`` (of the set that the round
        decided; missing if another round replaced it), ``annotator``, ``group``, ``proposal`` (missing for an added
        criterion), ``action``.
    drafted_criteria : the criteria in the model's wording.

    Raises
    ------
    ValueError
        If a table lacks a column, or a criterion is named twice.
    """

    task: str
    criteria: Sequence[str]
    scales: Mapping[str, tuple[float, float]]
    instances: pd.DataFrame
    scores: pd.DataFrame
    actions: pd.DataFrame
    drafts: pd.DataFrame
    comparisons: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(COMPARISON_COLUMNS)))
    references: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(REFERENCE_COLUMNS)))
    votes: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(VOTE_COLUMNS)))
    drafted_criteria: Sequence[str] = ()
    version: int = 0
    """The version of the criteria set; 0 if there is none."""
    drawn: bool = False
    """True if CoEval drew the arms at random, which is unknown for imported scores."""
    asked_again: bool = False
    """True if the model's figures count scores that it gave only when it was asked again."""

    def __post_init__(self) -> None:
        if len(set(self.criteria)) < len(self.criteria):
            raise ValueError("A criterion is named twice; give each text once.")
        needed = {
            "instances": INSTANCE_COLUMNS,
            "scores": SCORE_COLUMNS,
            "actions": ACTION_COLUMNS,
            "drafts": DRAFT_COLUMNS,
            "comparisons": COMPARISON_COLUMNS,
            "references": REFERENCE_COLUMNS,
            "votes": VOTE_COLUMNS,
        }
        for name, columns in needed.items():
            missing = [column for column in columns if column not in getattr(self, name).columns]
            if missing:
                raise ValueError(
                    f"The {name} table lacks the column {missing[0]!r}; it needs: {', '.join(columns)}."
                )

    @cached_property
    def scored(self) -> pd.DataFrame:
        """Return the rows that have a score, with codes of ``unit`` and annotator (``who``).

        ``genuine`` is True if the draft had no planted error.
        """
        there = self.scores["score"].notna()
        scored = (self.scores if there.all() else self.scores[there]).reset_index(drop=True)
        who = places_in(pd.Index(self.annotators), scored["annotator"])
        return scored.assign(
            score=scored["score"].astype(float),
            unit=self._unit_codes(scored),
            who=who,
            genuine=~is_planted(scored),
        )

    @cached_property
    def rated(self) -> pd.DataFrame:
        """Return ``who, unit, score`` of ``scored``, in the same rows. It is quick to filter."""
        return self.scored[["who", "unit", "score"]]

    @cached_property
    def everybody(self) -> Ratings:
        """Return all people's scores as annotators x units."""
        return self.ratings(self.rated)

    @cached_property
    def by_criterion(self) -> list[Ratings]:
        """Return people's scores of each criterion as annotators x units."""
        return [self.ratings(part) for part in self.cut_by_criterion(self.rated)]

    def cut_by_criterion(self, scored: pd.DataFrame) -> Iterator[pd.DataFrame]:
        """Yield each criterion's rows of a table with ``unit``, one criterion at a time to save memory."""
        place = scored["unit"].to_numpy() % max(len(self.criteria), 1)
        return (scored[place == position] for position in range(len(self.criteria)))

    @cached_property
    def genuine(self) -> pd.DataFrame:
        """Return ``scored`` without drafts that had a planted error."""
        keep = self.scored["genuine"]
        return self.scored if keep.all() else self.scored[keep]

    @cached_property
    def unaided(self) -> pd.DataFrame:
        """Return the scores that no draft influenced (blind and first scores), one per person and unit.

        Only a few columns of ``scored`` are returned, because the rows are often most of the study.
        """
        scored = self.scored[["who", "annotator", "group", "unit", "arm", "score", "draft_score"]]
        scored_first = scored["arm"] == FIRST
        first = scored[scored_first].assign(score=self.scored.loc[scored_first, "first_score"].astype(float))
        first = first.dropna(subset=["score"])
        unaided = pd.concat([scored[scored["arm"] == BLIND], first])
        return unaided.drop_duplicates(["who", "unit"], keep="last").sort_index()

    @cached_property
    def model_scores(self) -> pd.DataFrame:
        """Return the drafts that have a score, with their ``unit`` codes.

        Scores from asking again often contradict the model's first words, so they count only if the reader wants it.
        """
        scored = self.drafts.dropna(subset=["score"])
        if "again" in scored and not self.asked_again:
            scored = scored[~scored["again"].astype(bool)]
        scored = scored.reset_index(drop=True)
        return scored.assign(score=scored["score"].astype(float), unit=self._unit_codes(scored))

    @cached_property
    def units(self) -> pd.DataFrame:
        """Return every (instance, criterion), in order, with document and system. The row number is the unit's code."""
        instances = self.instances.drop_duplicates("instance")
        repeated = instances.loc[instances.index.repeat(len(self.criteria))].reset_index(drop=True)
        return repeated.assign(criterion=list(self.criteria) * len(instances))

    @cached_property
    def clusters(self) -> Clusters:
        """Return the cluster of every unit: its document, with all instances and criteria.

        An instance without a document is a separate cluster. If fewer than two documents are named, or each has
        only one instance, the clusters are instances.
        """
        instances = self.instances.drop_duplicates("instance")
        named = instances["document"].replace("", None)
        codes = pd.factorize(named)[0]
        alone = codes < 0
        codes[alone] = codes.max(initial=-1) + 1 + np.arange(int(alone.sum()))
        several = named.nunique() > 1
        if not several:
            codes = np.arange(len(instances))
        grouped = several and len(np.unique(codes)) < len(instances)
        return Clusters(np.repeat(codes, len(self.criteria)), DOCUMENTS if grouped else INSTANCES)

    def clusters_of(self, data: Ratings) -> Clusters:
        """Return the clusters of these ratings' units, numbered as in ``clusters``."""
        places = np.asarray(data.units, dtype=np.int64)
        return Clusters(self.clusters.code[places], self.clusters.kind)

    @cached_property
    def _places(self) -> tuple[pd.Index[Any], pd.Index[Any]]:
        return pd.Index(self.instances["instance"].drop_duplicates()), pd.Index(list(self.criteria))

    def _unit_codes(self, frame: pd.DataFrame) -> Codes:
        places = [
            places_in(index, frame[column])
            for index, column in zip(self._places, ("instance", "criterion"), strict=True)
        ]
        for place, column, table in zip(
            places, ("instance", "criterion"), ("instances", "criteria"), strict=True
        ):
            if (place < 0).any():
                unknown = frame[column].iloc[int(np.flatnonzero(place < 0)[0])]
                raise ValueError(
                    f"The {column} {unknown!r} is scored but not among the {table}; add it there."
                )
        codes: Codes = places[0] * len(self.criteria) + places[1]
        return codes

    @cached_property
    def annotators(self) -> list[Any]:
        """Return the people with at least one score, by name."""
        return sorted(self.scores.dropna(subset=["score"])["annotator"].unique(), key=str)

    @cached_property
    def group_of(self) -> dict[Any, str]:
        """Return each annotator's group."""
        first = self.scored.drop_duplicates("annotator", keep="last")
        return dict(zip(first["annotator"], first["group"], strict=True))

    @cached_property
    def shown_scores(self) -> pd.Series[float]:
        """Return the scores of the shown run, else of the only run, by unit code. The result may be empty."""
        scores = self.model_scores
        shown = scores[scores["shown"].astype(bool)]
        if shown.empty and scores["run"].nunique() == 1:
            shown = scores
        return shown.drop_duplicates("unit", keep="last").set_index("unit")["score"]

    @property
    def mixed_scales(self) -> bool:
        """Return whether the criteria have different scales."""
        return (
            len({tuple(self.scales[criterion]) for criterion in self.criteria if criterion in self.scales})
            > 1
        )

    def points(self, criteria: Sequence[str] | None = None) -> list[float] | None:
        """Return the points of the criteria's common scale; None if there is none, or it has more than 21."""
        chosen = self.criteria if criteria is None else criteria
        ranges = {tuple(self.scales[criterion]) for criterion in chosen if criterion in self.scales}
        if len(ranges) != 1:
            return None
        low, high = ranges.pop()
        return list(np.arange(float(low), float(high) + 1)) if high - low <= 20 else None

    def ratings(self, scored: pd.DataFrame, model: pd.Series[float] | None = None) -> Ratings:
        """Return people's scores as annotators x units, with those of a model, by unit, as one more annotator."""
        who, annotator = renumbered(scored["who"].to_numpy(dtype=np.int64))
        names = [self.annotators[k] for k in who]
        unit, values = scored["unit"].to_numpy(), scored["score"].to_numpy(dtype=float)
        if model is not None and len(model):
            names = [*names, LLM]
            annotator = np.concatenate([annotator, np.full(len(model), len(names) - 1)])
            unit = np.concatenate([unit, model.index.to_numpy()])
            values = np.concatenate([values, model.to_numpy(dtype=float)])
        return self._coded(tuple(names), annotator, unit, values)

    def _coded(self, names: tuple[Any, ...], annotator: Codes, unit: Codes, values: Numbers) -> Ratings:
        """Return ratings coded by the scale's points if all scores are points, else by the scores that occur."""
        places, unit = renumbered(np.asarray(unit, dtype=np.int64))
        criteria = [self.criteria[k] for k in np.unique(places % max(len(self.criteria), 1))]
        points = self.points(criteria)
        codes, categories = pd.factorize(values, sort=True)
        if points is not None and np.isin(categories, points).all():
            codes = np.searchsorted(points, categories)[codes] if len(categories) else codes
            categories = np.asarray(points)
        return Ratings(
            names,
            places,
            np.asarray(categories, dtype=float),
            np.asarray(annotator, np.int64),
            np.asarray(unit, np.int64),
            np.asarray(codes, np.int64),
        )


def count_submissions(study: StudyFrames) -> int:
    """Return the number of submitted evaluations, with or without a score."""
    return len(study.scores)


def list_criteria(study: StudyFrames) -> list[str]:
    """Return the criteria's texts."""
    return list(study.criteria)


def places_in(index: pd.Index[Any], column: pd.Series[Any]) -> Codes:
    """Return the position of each value in ``index``, or -1 if it is missing. Each category is looked up once."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return np.asarray(index.get_indexer(pd.Index(column)), dtype=np.int64)
    of_category = np.append(index.get_indexer(column.cat.categories), -1)
    return np.asarray(of_category[column.cat.codes], dtype=np.int64)


def once(statistic: Callable[..., Found]) -> Callable[..., Found]:
    """Decorate a pure function of frames to cache its result with them, because several sections need it."""
    results: WeakKeyDictionary[StudyFrames, dict[Any, Found]] = WeakKeyDictionary()
    parameters = signature(statistic)

    @wraps(statistic)
    def kept(study: StudyFrames, **options: Any) -> Found:
        asked = parameters.bind(study, **options)
        asked.apply_defaults()
        computed, key = results.setdefault(study, {}), tuple(asked.kwargs.items())
        if key not in computed:
            computed[key] = statistic(study, **options)
        return computed[key]

    return kept
