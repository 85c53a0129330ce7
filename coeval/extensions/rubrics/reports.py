"""Reports of judged rubrics, and a gate for continuous integration that tests their figures against limits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coeval.domain import Action, Instance, Person, Task
from coeval.extensions.rubrics import queries
from coeval.extensions.rubrics.drafting import require_judging
from coeval.extensions.rubrics.queries import Criterion, Judgment, Line, Run, Submission
from coeval.extensions.rubrics.reviews import ensure_taken
from coeval.extensions.rubrics.statistics import JudgedInstance, Label, RubricsReport, build_report
from coeval.stats.estimates import Estimate
from coeval.store.queries import tasks
from coeval.usecases.access import TEAM, Context, require_task, use_case


@dataclass(frozen=True, slots=True)
class RubricsStudy:
    """The data of a task's rubrics: instances in order, criteria, people's work, and one judge's judgments."""

    task: Task
    instances: Mapping[int, Instance]
    criteria: Mapping[int, list[Criterion]]
    submissions: list[Submission]
    names: Mapping[int, str]
    run: Run | None
    judgments: Mapping[int, Judgment]

    @property
    def by_id(self) -> dict[int, Criterion]:
        return {criterion.id: criterion for criteria in self.criteria.values() for criterion in criteria}

    @property
    def by_instance(self) -> dict[int, list[Submission]]:
        """Return people's work on each instance, empty if there is none."""
        saves: dict[int, list[Submission]] = defaultdict(list)
        for submission in self.submissions:
            saves[submission.instance].append(submission)
        return saves

    def list_labels(self) -> Iterator[Label]:
        """Return each person's judgment on each criterion, with the judge's verdict on the same wording."""
        by_id = self.by_id
        for submission in self.submissions:
            instance = self.instances[submission.instance]
            for line in submission.lines:
                criterion = by_id.get(line.criterion or 0)
                unit = _unit_of(line, criterion, instance)
                # a revised wording is a different statement, so the judge's verdict on the draft does not apply
                judged = self.judgments.get(unit[0])
                yield Label(
                    person=self.names[submission.annotator],
                    instance=instance.id,
                    document=instance.document or instance.external_id,
                    unit=unit,
                    axis=criterion.rubric.axis if criterion else line.axis,
                    action=Action(line.action),
                    points=_points_of(line, criterion),
                    value=line.value,
                    judge=judged.value if judged else None,
                    shown=line.judgment is not None and judged is not None and line.judgment == judged.id,
                )

    def list_judged(self) -> list[JudgedInstance]:
        """Return each instance that has criteria, with the judge's values."""
        return [
            JudgedInstance(
                instance=number,
                document=self.instances[number].document or self.instances[number].external_id,
                system=self.instances[number].system,
                judged=tuple((criterion.rubric.points, self.get_value(criterion)) for criterion in criteria),
                name=self.instances[number].external_id,
            )
            for number, criteria in self.criteria.items()
        ]

    def get_value(self, criterion: Criterion) -> float | None:
        """Return the judge's value, if any."""
        judged = self.judgments.get(criterion.id)
        return judged.value if judged else None


def _points_of(line: Line, criterion: Criterion | None) -> float:
    if line.points is not None:
        return line.points
    return criterion.rubric.points if criterion else 0.0


def _unit_of(line: Line, criterion: Criterion | None, instance: Instance) -> tuple[int, str]:
    """Return a key for the judged wording: people with the same wording judged the same criterion."""
    if criterion is not None and (not line.text or line.text == criterion.rubric.text):
        return criterion.id, ""
    return -instance.id, " ".join(line.text.casefold().split())


def read_rubrics_study(context: Context, slug: str, label: str = "") -> RubricsStudy:
    """Return the data of a task's rubrics; the judge is the run with that label, or the one that annotators see.

    Raises:
        NotFoundError: there is no such task, or no run with that label.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
    ensure_taken(context, task)
    with context.store.read() as db:
        shown = queries.get_shown_run(db, task.id)
        run = require_judging(db, task, label) if label else shown
        submissions = queries.list_submissions(db, task.id)
        people = sorted({submission.annotator for submission in submissions})
        return RubricsStudy(
            task=task,
            instances={instance.id: instance for instance in tasks.list_instances(db, task.id)},
            criteria=queries.list_task_criteria(db, task.id),
            submissions=submissions,
            names=queries.list_names(db, people),
            run=run,
            judgments=queries.list_judgments(db, run.id) if run else {},
        )


@use_case(TEAM)
def get_rubrics_report(context: Context, person: Person, slug: str, label: str = "") -> RubricsReport:
    """Return agreement, scores and changes for criteria of single instances."""
    study = read_rubrics_study(context, slug, label)
    name = study.run.label if study.run else ""
    return build_report(list(study.list_labels()), study.list_judged(), name)


EXIT_CODES = {"held": 0, "below": 3, "undecided": 4}
"""The exit codes of a gate; 1 and 2 are reserved for errors and invalid options."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a gate for one figure: ``outcome`` is "held", "below" or "undecided"."""

    name: str
    outcome: str
    least: float
    value: float
    ci_low: float
    ci_high: float
    why: str = ""

    def __str__(self) -> str:
        if self.why:
            return f"{self.name}: {self.outcome}. {self.why}"
        interval = f"95% interval {self.ci_low:.3f} to {self.ci_high:.3f}"
        return f"{self.name}: {self.outcome}. {self.value:.3f} ({interval}); the minimum is {self.least:g}."


def check_figure(name: str, figure: Estimate, least: float) -> Finding:
    """Test a figure against a minimum: held if the whole interval reaches it, below if no part does."""
    low, high = figure.ci
    if not figure.defined:
        return Finding(
            name, "undecided", least, float("nan"), low, high, f"It is undefined: {figure.reason}."
        )
    if low != low:
        why = f"It is {float(figure):.3f}, and there are too few documents for an interval."
        return Finding(name, "undecided", least, float(figure), low, high, why)
    outcome = "held" if low >= least else "below" if high < least else "undecided"
    return Finding(name, outcome, least, float(figure), low, high)


def check_share(name: str, count: int, total: int, most: float) -> Finding:
    """Test whether an exactly known share is at most ``most``."""
    share = count / total if total else float("nan")
    if not total:
        return Finding(name, "undecided", most, share, share, share, "There is nothing to count.")
    outcome = "held" if share <= most else "below"
    return Finding(
        name, outcome, most, share, share, share, f"{count:,} of {total:,}; the maximum is {most:g}."
    )


def outcome_of(findings: Sequence[Finding]) -> str:
    """Return the outcome of a gate: the worst of its findings."""
    outcomes = {finding.outcome for finding in findings}
    return next((outcome for outcome in ("below", "undecided") if outcome in outcomes), "held")
