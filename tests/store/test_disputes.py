"""The disputes that are found by looking at few candidates are those that looking at all would find."""

from __future__ import annotations

import random
from itertools import groupby

import pytest

from coeval.domain import Arm, Person, Submission
from coeval.store.queries import criteria, review, submissions, tasks
from coeval.usecases.access import Context
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study

Listed = list[tuple[str, str, int, float, float]]


def find_all(context: Context, task: int) -> Listed:
    """By the definition: the latest score of everybody, unit by unit."""
    with context.store.read() as db:
        rows = db.conn.execute(
            "SELECT i.position, c.id, i.external_id, c.text, s.score FROM submission s"
            " JOIN instance i ON i.id = s.instance JOIN criterion c ON c.id = s.criterion WHERE i.task = ?"
            " AND s.revision = (SELECT max(t.revision) FROM submission t WHERE t.annotator = s.annotator"
            " AND t.instance = s.instance AND t.criterion = s.criterion) ORDER BY 1, 2",
            [task],
        ).fetchall()
    disputes = []
    for (position, criterion, name, text), unit in groupby(rows, lambda row: row[:4]):
        scores = [row[4] for row in unit]
        if max(scores) > min(scores):
            place = (min(scores) - max(scores), position, criterion)
            disputes.append((place, (name, text, len(scores), min(scores), max(scores))))
    return [dispute for _, dispute in sorted(disputes)]


@pytest.mark.parametrize("seed", range(4))
def test_disputes_are_those_of_the_definition(seed: int, context: Context, owner: Person) -> None:
    import_study(context, owner, make_study(15))
    people = [sign_in(context, name)[0].id for name in ("Ana", "Ben", "Cleo")]
    chance = random.Random(seed)
    with context.store.write() as db:
        task = tasks.get_task(db, "demo")
        current = criteria.get_criteria_set(db, task.id)
        for instance in list(tasks.list_instances(db, task.id)):
            for criterion in current.criteria:
                for person in people:
                    # many first opinions are far apart, and most of them are taken back
                    for revision in range(1, chance.choice((1, 1, 2, 3)) + 1):
                        score = float(chance.choice((1, 5) if revision == 1 else (3, 3, 3, 4)))
                        uid = f"{person}-{instance.id}-{criterion.id}-{revision}"
                        submission = Submission(
                            person,
                            instance.id,
                            criterion.id,
                            score,
                            (),
                            arm=Arm.BLIND,
                            revision=revision,
                            uid=uid,
                        )
                        submissions.record_submission(db, submission)
    expected = find_all(context, task.id)
    assert len(expected) > 20
    with context.store.read() as db:
        for limit in (1, 7, 10_000):
            listed = review.list_disputes(db, task.id, current.id, limit=limit)
            assert [(d.external_id, d.text, d.n, d.low, d.high) for d in listed] == expected[:limit]
