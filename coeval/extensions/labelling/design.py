"""A labelling design: the queue assigns items with stored probabilities, and means are corrected for them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from coeval.domain import Person
from coeval.errors import InputError
from coeval.extending import find_order
from coeval.extensions.labelling import queries
from coeval.extensions.labelling.chances import (
    ACTIVE,
    KINDS,
    UNIFORM,
    allot,
    chances_so_far,
    drawn_difference,
    drawn_mean,
    places,
)
from coeval.extensions.labelling.study_units import EVERYTHING, list_units
from coeval.rules.arms import draw_share
from coeval.stats.estimates import Estimate, tell_estimate
from coeval.stats.frames import StudyFrames
from coeval.store import Database
from coeval.store.queries import assignments, criteria, teams
from coeval.store.queries.crowd_studies import get_active_plan
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.reports.statistics import get_statistic
from coeval.usecases.scrutiny.policies import share_asked

MOST_DIFFERENCES = 45
"""The largest number of differences per criterion: all pairs of ten systems."""


ANSWERS, JURY, NOTHING = "the spread of the judge's answers", "the disagreement of judges", "nothing"


def order_items(db: Database, task: int, instances: list[int]) -> list[int] | None:
    """Return the planned instances in the order of the active design. For a crowd, return all instances."""
    design = queries.get_design(db, task)
    if design is None:
        return None
    place = queries.list_places(db, design.id)
    last = sorted(place.values())[: max(design.labels, 1)][-1:]
    reach = float("inf") if get_active_plan(db, task) is not None or not last else last[0]
    return sorted(
        (instance for instance in instances if place.get(instance, np.inf) <= reach), key=place.__getitem__
    )


@dataclass(frozen=True)
class Items:
    """The instances with the judge's uncertainties, and the judge's errors if people scored them."""

    names: tuple[str, ...]
    uncertainty: tuple[float, ...]
    errors: tuple[float, ...]
    source: str


def list_items(study: StudyFrames) -> Items:
    """Return a study's instances, with root-mean-square uncertainties and errors over the criteria."""
    units, _ = list_units(study)
    source = ANSWERS
    if units["uncertainty"].isna().all():
        spread = study.model_scores.groupby("unit")["score"].std(ddof=1).reindex(units.index)
        units["uncertainty"], source = spread, JURY if spread.notna().any() else NOTHING
    units["squared_error"] = (units["people"] - units["judge"]) ** 2
    units["variance"] = units["uncertainty"] ** 2
    grouped = units.groupby("instance", sort=False)
    variance = grouped["variance"].mean()
    return Items(
        tuple(str(name) for name in variance.index),
        tuple(np.sqrt(variance).tolist()),
        tuple(np.sqrt(grouped["squared_error"].mean()).tolist()),
        source,
    )


@dataclass(frozen=True)
class DrawnRow:
    """A mean of a criterion, or the difference of two systems, from labels with known probabilities."""

    criterion: str
    what: str
    value: Estimate


@dataclass(frozen=True)
class Labelling:
    """The source of the uncertainty, the newest design, and the results of its labels."""

    source: str
    kind: str = ""
    running: bool = False
    planned: int = 0
    labelled: int = 0
    """The number of instances that are labelled on every criterion, in the order of the design."""
    out_of_order: int = 0
    """The number of instances that are labelled after an unlabelled one, and do not count until it is labelled."""
    rows: tuple[DrawnRow, ...] = ()


@dataclass(frozen=True)
class EstimateDrawn:
    """The statistic under a design; ``chances`` are (instance, probability, place)."""

    chances: tuple[tuple[str, float, float], ...]

    def __call__(self, study: StudyFrames) -> tuple[int, int, tuple[DrawnRow, ...]]:
        units, _ = list_units(study)
        drawn = pd.DataFrame(list(self.chances), columns=["instance", "chance", "place"])
        rows: list[DrawnRow] = []
        labelled, late = [], []
        for criterion in study.criteria:
            drawn_units = drawn.merge(units[units["criterion"] == criterion], on="instance", how="inner")
            is_labelled = drawn_units["people"].notna().to_numpy()
            chance, counted = chances_so_far(
                drawn_units["chance"].to_numpy(), drawn_units["place"].to_numpy(), is_labelled
            )
            labelled.append(int(counted.sum()))
            late.append(int(is_labelled.sum()) - int(counted.sum()))
            rows += self._rows(str(criterion), drawn_units, chance, counted, study.scales[criterion])
        return min(labelled, default=0), max(late, default=0), tuple(rows)

    def _rows(
        self,
        criterion: str,
        drawn_units: pd.DataFrame,
        chance: np.ndarray,
        counted: np.ndarray,
        scale: tuple[float, float],
    ) -> Iterator[DrawnRow]:
        y, f, document = drawn_units["people"], drawn_units["judge"], drawn_units["document"]
        named = drawn_units["system"].replace("", None).fillna("")
        systems = sorted(set(named) - {""})  # rows are in the order of the draw
        yield DrawnRow(
            criterion, EVERYTHING, drawn_mean(y, f, chance, counted, clusters=document, scale=scale)
        )
        if len(systems) < 2:
            return
        for name in systems:
            part = (named == name).to_numpy()
            value = drawn_mean(
                y[part], f[part], chance[part], counted[part], clusters=document[part], scale=scale
            )
            yield DrawnRow(criterion, name, value)
        for a, b in list(combinations(systems, 2))[:MOST_DIFFERENCES]:
            first, second = (named == a).to_numpy(), (named == b).to_numpy()
            value = drawn_difference(y, f, chance, counted, first, second, clusters=document)
            yield DrawnRow(criterion, f"{a} less {b}", value)


@use_case(OWNERS)
def has_design(context: Context, person: Person, slug: str) -> bool:
    """Return whether the items of a task were ever drawn with known probabilities."""
    with context.store.read() as db:
        return queries.get_last_design(db, require_task(db, slug).id) is not None


@use_case(OWNERS)
def get_labelling(context: Context, person: Person, slug: str) -> Labelling:
    """Return the newest design, and the means from its labels."""
    with context.store.read() as db:
        task = require_task(db, slug)
        design, running = queries.get_last_design(db, task.id), queries.get_design(db, task.id) is not None
        chances = queries.list_chances(db, design.id) if design else {}
    items: Items = get_statistic(context, person, slug, list_items)
    if design is None:
        return Labelling(items.source)
    named = tuple((name, chance, place) for name, (chance, place) in chances.items())
    labelled, late, rows = get_statistic(context, person, slug, EstimateDrawn(named))
    return Labelling(items.source, design.kind, running, design.labels, labelled, late, rows)


@use_case(OWNERS)
def make_design(
    context: Context,
    person: Person,
    slug: str,
    kind: str,
    labels: int,
    uncertainty: Mapping[str, float] | None = None,
) -> None:
    """Draw instances with stored probabilities; everybody gets the same ones in the same order.

    People keep the instances that they have opened. ``uncertainty`` replaces that of the judge that people see, by the
    instances' names in the files. Instances that it does not name are drawn with equal probabilities.

    Raises:
        InputError: the kind or number is invalid, there is no uncertainty, or the team has only some lines.
    """
    if kind not in KINDS:
        raise InputError(f"“{kind[:40]}” is not a way to draw labels: choose {', '.join(KINDS)}.")
    items: Items = get_statistic(context, person, slug, list_items)
    spread, errors = items.uncertainty, items.errors
    if uncertainty is not None:
        spread = tuple(uncertainty.get(name, np.nan) for name in items.names)
        errors = (np.nan,) * len(spread)  # another judge's errors, perhaps of sealed outputs
    elif kind != UNIFORM and items.source == NOTHING:
        raise InputError(
            "The judge gives no uncertainty to draw with: draft with decisions, log-probabilities, several "
            "samples or several judges, or draw uniformly."
        )
    with context.store.write() as db:
        task = require_task(db, slug)
        ids = queries.list_instances(db, task.id)
        positions = [place for place, name in enumerate(items.names) if name in ids]
        if not 1 <= labels <= len(positions):
            raise InputError(
                f"The number of labels is {labels:,}, but there are {len(positions):,} instances: choose from 1 "
                f"to {len(positions):,}."
            )
        if teams.is_asking(db, task.id):
            raise InputError("The team has only some lines: first assign all lines again, on the Judge tab.")
        drawn = allot(kind, *([part[k] for k in positions] for part in (spread, errors)))
        chance, seed = drawn.chances(labels), secrets.token_hex(16)
        even = np.array([draw_share(seed, "label", ids[items.names[k]]) for k in positions])
        place = places(chance, even)
        chances = {
            ids[items.names[k]]: (float(pi), float(at))
            for k, pi, at in zip(positions, chance, place, strict=True)
        }
        values = {"kind": kind, "labels": labels, "seed": seed}
        queries.record_design(db, task.id, values, person.name, chances)
        _give_again(db, task.id, slug)


def draw_uncertain(
    context: Context, person: Person, slug: str, labels: int, uncertainty: Mapping[str, float]
) -> None:
    """Draw instances by their uncertainty (``Extension.label_draws``); see ``make_design``."""
    make_design(context, person, slug, ACTIVE, labels, uncertainty)


@use_case(OWNERS)
def end_design(context: Context, person: Person, slug: str) -> None:
    """End the design, so that everybody gets all instances; the probabilities of the labels so far are kept.

    Raises:
        InputError: there is no active design.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        if queries.get_design(db, task.id) is None:
            raise InputError(f"“{slug}” has no active labelling design.")
        values = {"kind": queries.ENDED, "labels": 0, "seed": ""}
        queries.record_design(db, task.id, values, person.name, {})
        _give_again(db, task.id, slug)


def _give_again(db: Database, task: int, slug: str) -> None:
    """Replace the unopened instances in a team's queues according to the active design. A crowd's queues do
    not change.
    """
    if get_active_plan(db, task) is not None:
        return
    people = teams.list_with_queue(db, task)
    for annotator in people:
        teams.drop_unopened(db, task, annotator)
    if not share_asked(db, require_task(db, slug)):
        for annotator in people:
            missing = assignments.list_unassigned(db, annotator, task)
            order = find_order(db, task, missing)
            assignments.add_assignments(db, annotator, task, missing if order is None else order)
    current = criteria.get_criteria_set(db, task)
    if current:
        assignments.refresh_states(db, task, [criterion.id for criterion in current.criteria])


def tell_labelling(labelling: Labelling) -> Iterator[str]:
    """Describe the design and its means as lines of text."""
    yield f"Uncertainty comes from {labelling.source}."
    if not labelling.kind:
        return
    state = "in force" if labelling.running else "ended"
    yield (
        f"Design: {labelling.kind}, {labelling.planned:,} labels planned, {labelling.labelled:,} labelled in order "
        f"({state})"
    )
    if labelling.out_of_order:
        yield f"{labelling.out_of_order:,} labels do not count yet: an instance before them in the order has no label."
    for row in labelling.rows:
        yield f"{row.criterion[:50]}, {row.what}: {tell_estimate(row.value)}"
