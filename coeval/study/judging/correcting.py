"""What people corrected on the dev part, as what examples and wordings are made of."""

from __future__ import annotations

from collections.abc import Collection

from coeval.domain import CriteriaSet, Run, Task
from coeval.domain.seals import Part, Seal
from coeval.judge.artifact.judge_file import hide_names
from coeval.judge.learning.examples import Correction
from coeval.store import Database
from coeval.store.queries import tasks
from coeval.store.queries.judging import labels
from coeval.store.queries.judging.corrections import list_dev_reasons
from coeval.store.queries.people import people


def read_corrections(
    db: Database, task: Task, current: CriteriaSet, seal: Seal, run: Run
) -> tuple[Correction, ...]:
    """People's scores of the dev lines that a run has scored, with their reasons; nobody is named in these."""
    judged = labels.list_judged(db, task.id, current.id, seal, Part.DEV)
    drafted = {
        (line.instance, line.criterion): line.score
        for line in judged
        if line.judge == run.label and line.score is not None
    }
    given = [
        one
        for one in labels.list_dev_labels(db, task.id, current.id, seal)
        if (one.instance, one.criterion) in drafted
    ]
    reasons = list_dev_reasons(db, task.id, current.id, seal)
    texts = tasks.get_instances_by_external_id(db, task.id, dict.fromkeys(one.instance for one in given))
    names = list_names(db)
    return tuple(
        Correction(
            one.instance,
            one.document,
            one.criterion,
            texts[one.instance].input,
            texts[one.instance].output,
            drafted[one.instance, one.criterion],
            one.score,
            hide_names(reasons.get((one.person, one.instance, one.criterion), ""), names),
        )
        for one in given
    )


def list_names(db: Database) -> Collection[str]:
    """The names of the people of the study, which no judge may be told."""
    return [one.name for one in people.list_people(db)]
