"""Agreement of people and the judge on criteria of single instances, the scores, and people's changes.

A unit is a criterion of one instance. Criteria are nested in instances, and instances in documents, so every interval
leaves out whole documents.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from coeval.domain import Action
from coeval.extensions.rubrics.scoring import instance_score, overall_score
from coeval.stats.agreement.alpha import krippendorff_alpha
from coeval.stats.clusters import DOCUMENTS, cut, mean_interval, parse_clusters, sums_interval
from coeval.stats.estimates import Estimate
from coeval.stats.rating_matrix import Numbers, encode_ratings


@dataclass(frozen=True, slots=True)
class Label:
    """One person's judgment on one criterion of one instance, with the judge's.

    ``unit`` is the same for all people who judged the same wording: the draft's, or the same revision or addition.
    ``judge`` is None if the judge has no value. ``shown`` is True if the person saw that value.
    """

    person: str
    instance: int
    document: str
    unit: Hashable
    axis: str
    action: Action
    points: float
    value: float | None
    judge: float | None = None
    shown: bool = False


@dataclass(frozen=True, slots=True)
class JudgedInstance:
    """An instance with (points, value) from the judge for each criterion."""

    instance: int
    document: str
    system: str
    judged: tuple[tuple[float, float | None], ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class InstanceScore:
    """The two scores of an instance. ``people`` is the mean of people's scores; None means undefined."""

    instance: int
    document: str
    system: str
    people: float | None
    n_people: int
    judge: float | None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement between people, and of the judge with people, on the criteria of one axis or of all."""

    n_criteria: int
    n_people: int
    alpha: Estimate
    """Alpha of people, on the criteria that at least two of them judged."""
    macro_f1: Estimate
    """The judge's F1 against each judgment of a person: the mean of F1 for "met" and for "not met"."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The numbers of criteria that people kept, revised, deleted and added, and of verdicts that they changed."""

    approve: int
    revise: int
    delete: int
    add: int
    verdicts_shown: int
    verdicts_changed: int


@dataclass(frozen=True, slots=True)
class RubricsReport:
    """All figures of a task's rubrics, overall and by axis."""

    judge: str
    n_instances: int
    n_documents: int
    n_criteria: int
    n_labels: int
    unscored: int
    """The number of criteria without a readable judgment from the judge."""
    overall: Agreement
    axes: Mapping[str, Agreement]
    changes: Changes
    scores: Sequence[InstanceScore] = field(default_factory=list)
    people_score: Estimate = Estimate.undefined("no instance has a score from people")
    judge_score: Estimate = Estimate.undefined("no instance has a score from the judge")
    difference: Estimate = Estimate.undefined("no instance has both scores")
    """The judge's score minus people's, on the instances with both."""


def build_report(labels: Sequence[Label], judged: Sequence[JudgedInstance], judge: str = "") -> RubricsReport:
    """Compute all figures from people's saves and the judge's judgments."""
    axes = sorted({label.axis for label in labels if label.axis})
    scores = score_instances(labels, judged)
    values = [value for instance in judged for _, value in instance.judged]
    return RubricsReport(
        judge=judge,
        n_instances=len(judged),
        n_documents=len({instance.document for instance in judged}),
        n_criteria=len(values),
        n_labels=sum(label.value is not None for label in labels),
        unscored=sum(value is None for value in values) if judge else 0,
        overall=measure_agreement(labels),
        axes={axis: measure_agreement([label for label in labels if label.axis == axis]) for axis in axes},
        changes=count_changes(labels),
        scores=scores,
        people_score=mean_score([(score.people, score.document) for score in scores], "people"),
        judge_score=mean_score([(score.judge, score.document) for score in scores], "the judge"),
        difference=score_difference(scores),
    )


def measure_agreement(labels: Sequence[Label]) -> Agreement:
    """Measure agreement on the criteria of these labels."""
    return Agreement(
        n_criteria=len({label.unit for label in labels}),
        n_people=len({label.person for label in labels}),
        alpha=people_alpha(labels),
        macro_f1=macro_f1(labels),
    )


def people_alpha(labels: Sequence[Label]) -> Estimate:
    """Return Krippendorff's nominal alpha of people with an interval over documents."""
    values = {(label.person, label.unit): label.value for label in labels if label.value is not None}
    if not values:
        return Estimate.undefined("no person has judged a criterion")
    documents = {label.unit: label.document for label in labels if label.value is not None}
    columns = {unit: n for n, unit in enumerate(documents)}
    rows = {person: n for n, person in enumerate(dict.fromkeys(person for person, _ in values))}
    ratings = encode_ratings(
        [rows[person] for person, _ in values], [columns[unit] for _, unit in values],
        np.array(list(values.values())), tuple(rows), range(len(columns)),
    )  # fmt: skip
    clusters = parse_clusters(list(documents.values()), len(documents), DOCUMENTS)
    return krippendorff_alpha(ratings, "nominal", clusters=clusters)


def macro_f1(labels: Iterable[Label]) -> Estimate:
    """Return the judge's macro-F1 against each judgment of a person on wordings that the judge judged.

    The interval leaves out documents. The result is undefined if people or the judge gave only one verdict.

    >>> from dataclasses import replace
    >>> made = Label("ann", 1, "d", 1, "", Action.APPROVE, 1, value=1, judge=1)
    >>> macro_f1([made, replace(made, unit=2, value=0)])  # F1 of met is 2/3, of not met 0
    0.3333333333333333
    """
    pairs = [label for label in labels if label.value is not None and label.judge is not None]
    if not pairs:
        return Estimate.undefined("no criterion was judged by a person and by the judge", n=0)
    people, judge = (np.array([getattr(label, who) == 1 for label in pairs]) for who in ("value", "judge"))
    rows = np.column_stack([people & judge, judge & ~people, people & ~judge, ~people & ~judge]).astype(float)
    clusters = parse_clusters([label.document for label in pairs], len(pairs), DOCUMENTS)
    value = float(_f1(rows.sum(axis=0)[None, :])[0])
    if np.isnan(value):
        return Estimate.undefined(
            "people gave only one verdict, so one of the two F1 is undefined", n=len(pairs)
        )
    spread = sums_interval(clusters.sums(rows), _f1, DOCUMENTS, value=value)
    return Estimate(value, n=len(pairs), **cut(spread, 0.0, 1.0))


def _f1(sums: Numbers) -> Numbers:
    """Return the mean F1 of both verdicts for each row of (both met, only judge, only people, neither)."""
    met_by_both, judge, people, neither = np.asarray(sums, dtype=float).T
    with np.errstate(invalid="ignore", divide="ignore"):
        met = np.where(met_by_both + people > 0, 2 * met_by_both / (2 * met_by_both + judge + people), np.nan)
        not_met = np.where(neither + judge > 0, 2 * neither / (2 * neither + judge + people), np.nan)
    return np.asarray((met + not_met) / 2)


def score_instances(labels: Iterable[Label], judged: Iterable[JudgedInstance]) -> list[InstanceScore]:
    """Return people's and the judge's score of every instance that either has judged."""
    by_person: dict[tuple[int, str], list[tuple[float, float | None]]] = defaultdict(list)
    for label in labels:
        kept = by_person[label.instance, label.person]
        if label.action is not Action.DELETE:
            kept.append((label.points, label.value))
    people: dict[int, list[float]] = defaultdict(list)
    for (number, _), kept in by_person.items():
        score = instance_score(kept)
        if score is not None:
            people[number].append(score)
    return [
        InstanceScore(
            instance=instance.instance,
            document=instance.document,
            system=instance.system,
            people=fmean(people[instance.instance]) if people[instance.instance] else None,
            n_people=len(people[instance.instance]),
            judge=instance_score(instance.judged),
            name=instance.name,
        )
        for instance in judged
    ]


def mean_score(scores: Iterable[tuple[float | None, str]], whose: str) -> Estimate:
    """Return the score of all instances, clipped to 0..1 as in HealthBench, with an interval over documents."""
    scored = [(score, document) for score, document in scores if score is not None]
    if not scored:
        return Estimate.undefined(f"no instance has a score from {whose}", n=0)
    values = np.array([score for score, _ in scored])
    clusters = parse_clusters([document for _, document in scored], len(scored), DOCUMENTS)
    spread = mean_interval(values, clusters, (min(0.0, float(values.min())), 1.0))
    return Estimate(overall_score(list(values)), n=len(values), **cut(spread, 0.0, 1.0))


def score_difference(scores: Iterable[InstanceScore]) -> Estimate:
    """Return the mean of the judge's score minus people's on the instances with both, not clipped."""
    pairs = [
        (score.judge - score.people, score.document)
        for score in scores
        if score.judge is not None and score.people is not None
    ]
    if not pairs:
        return Estimate.undefined("no instance has both scores", n=0)
    values = np.array([value for value, _ in pairs])
    spread = mean_interval(values, parse_clusters([document for _, document in pairs], len(pairs), DOCUMENTS))
    return Estimate(float(values.mean()), n=len(pairs), **spread)


def count_changes(labels: Sequence[Label]) -> Changes:
    """Count the criteria that were kept, revised, deleted and added, and the changed verdicts."""
    actions = Counter(label.action for label in labels)
    shown = [label for label in labels if label.shown and label.judge is not None and label.value is not None]
    return Changes(
        approve=actions[Action.APPROVE],
        revise=actions[Action.REVISE],
        delete=actions[Action.DELETE],
        add=actions[Action.ADD],
        verdicts_shown=len(shown),
        verdicts_changed=sum(label.value != label.judge for label in shown),
    )


def tell(name: str, figure: Estimate) -> str:
    """Describe an estimate in one line."""
    if not figure.defined:
        return f"{name}: undefined ({figure.reason})"
    low, high = figure.ci
    interval = "no interval" if low != low else f"95% interval {low:.3f} to {high:.3f}"
    return f"{name}: {figure:.3f} ({interval})"


def tell_report(report: RubricsReport) -> Iterator[str]:
    """Describe the figures of all axes in lines of text."""
    changes = report.changes
    yield (
        f"{report.n_instances:,} instances of {report.n_documents:,} documents; {report.n_labels:,} judgments of "
        f"people; judge: {report.judge or 'none'}, {report.unscored:,} criteria unscored"
    )
    yield tell("Alpha of people", report.overall.alpha)
    yield tell("Judge against people, macro-F1", report.overall.macro_f1)
    yield tell("Score by people", report.people_score)
    yield tell("Score by the judge", report.judge_score)
    yield tell("The judge's score minus people's", report.difference)
    yield (
        f"Criteria: {changes.approve:,} approved, {changes.revise:,} revised, {changes.delete:,} deleted, "
        f"{changes.add:,} added. {changes.verdicts_changed:,} of {changes.verdicts_shown:,} shown verdicts changed."
    )
    for axis, agreement in report.axes.items():
        yield tell(f"{axis}, alpha", agreement.alpha)
        yield tell(f"{axis}, macro-F1", agreement.macro_f1)
