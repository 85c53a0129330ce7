"""A simulated study with a known pull: people who move a known share of the way to the score they are shown.

They work through the routes the browser uses and know nothing but what these answer. Half of them would give
the draft's score anyway, which is what plain agreement cannot tell from being drawn to it.
"""

from __future__ import annotations

import random
from typing import Any
from uuid import uuid4

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from coeval.domain import (
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    Instance,
    Person,
    RowKind,
    Run,
    Study,
    Task,
)
from coeval.stats import build_report
from coeval.store.queries.criteria import get_criteria_set
from coeval.ui.app.scrutiny_tab import add_scrutiny_api
from coeval.ui.server.identity import COOKIE
from coeval.ui.server.payloads import add_error_answers
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports.statistics import get_frames
from coeval.usecases.scrutiny.review import adjudicate
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.support.studies.scrutiny_steps import use_design

N_INSTANCES, CRITERIA, PEOPLE = (
    80,
    ("Use simple words.", "Be true."),
    ("Ana", "Ben", "Cy", "Dee", "Eli", "Flo"),
)


def make_study(chance: random.Random) -> Study:
    """Drafts of every score, each with a line that states it and a line of evidence."""
    instances = tuple(Instance(f"q{n}", f"Why {n}?", f"Because of {n}.") for n in range(N_INSTANCES))
    drafts = []
    for one in instances:
        for criterion in CRITERIA:
            score = chance.randint(1, 5)
            rows = (
                EvaluationRow(RowKind.SCORE, f"I give it a score of {score}."),
                EvaluationRow(RowKind.EVIDENCE, f"It says “{one.output}”"),
            )
            drafts.append(ImportedDraft(one.external_id, criterion, float(score), rows))
    run = ImportedRun(Run("imported", "test-model", "first", shown=True), tuple(drafts))
    return Study(Task("demo", "A task"), instances, tuple(Criterion(text) for text in CRITERIA), (run,))


class Worker:
    """One modelled person at a browser; ``pull`` is the share of the way they move to a shown score."""

    def __init__(self, client: TestClient, name: str, pull: float) -> None:
        self.client, self.pull = client, pull
        self.chance = random.Random(name)

    def work(self) -> int:
        """Confirm the whole queue; how many evaluations that were."""
        step, n = self.client.post("/api/scrutiny/demo/step").json(), 0
        while not step["finished"]:
            answer = self.client.post("/api/scrutiny/demo/submissions", json=self.decide(step))
            assert answer.status_code == 200, answer.text
            step, n = answer.json()["next"], n + 1
        return n

    def decide(self, step: dict[str, Any]) -> dict[str, Any]:
        shown = step["evaluation"]
        rows = [row for row in shown["rows"] if row["id"] is not None and row["kind"] != "score"]
        return {
            "uid": str(uuid4()),
            "instance": step["instance"]["id"],
            "criterion": step["criterion"],
            "draft": shown["draft"],
            "revision": shown["revision"],
            "score": self.score(step, shown["draft_score"]),
            "rows": [{"id": row["id"], "action": "approve", "reason": "", "new_text": ""} for row in rows],
            "added": [],
        }

    def score(self, step: dict[str, Any], shown: float | None) -> int:
        """Their own mind, drawn to what is shown; rounded by chance, so that the mean is exact."""
        mind = random.Random(f"{step['instance']['output']}:{step['criterion']}").randint(1, 5)
        own = min(5, max(1, mind + self.chance.choice((-1, 0, 0, 1))))
        drawn = own if shown is None else own + self.pull * (shown - own)
        return int(drawn + self.chance.random())


@pytest.mark.slow
@pytest.mark.parametrize("pull", [0.0, 0.5])
def test_the_pull_is_recovered_within_its_interval(context: Context, owner: Person, pull: float) -> None:
    import_study(context, owner, make_study(random.Random(7)))
    with context.store.write() as db:
        db.conn.execute("UPDATE task SET seed = 'the seed that every run of this test draws with'")
    use_design(context, owner, blind_share=0.25, planted_share=0.5)
    app = FastAPI()
    add_error_answers(app)
    add_scrutiny_api(app, context)
    for name in PEOPLE:
        with TestClient(app, cookies={COOKIE: sign_in(context, name)[1]}) as client:
            assert Worker(client, name, pull).work() == N_INSTANCES * len(CRITERIA)

    frames = get_frames(context, owner, "demo")
    found = build_report(frames, replicates=400)["drafts"]
    assert found["pull"]["ci_low"] <= pull <= found["pull"]["ci_high"]
    # 960 evaluations, three quarters assisted, half of them with a planted error, half of these by score: 180 expected
    assert 120 <= found["pull"]["n_shifted"] <= 240
    # narrow enough to tell the studies apart
    assert found["pull"]["ci_high"] - found["pull"]["ci_low"] < 0.3
    # adoption sees the pull only in part (notes: .125 for .3, which takes more people than these), and none where
    # there is none
    measures = {one["name"]: one for one in found["arms"][0]["measures"]}
    adoption = measures["adoption"]["difference"]
    assert (adoption["ci_low"] <= 0 <= adoption["ci_high"]) == (pull == 0)
    assert (
        found["planted"]["n"] == found["pull"]["n_shifted"] and 0 < measures["caught"]["shown"]["value"] < 1
    )


def test_adjudicated_and_given_reference_scores_are_read(context: Context, owner: Person) -> None:
    """An owner's newest decision counts; a column of scores counts where its numbers are on the scale."""
    columns = {"reference score: be true.": "4"}, {"reference score: Be true.": "9"}, {"Reference score": "5"}
    instances = tuple(
        Instance(f"q{n}", f"Why {n}?", f"Because of {n}.", context=context_of)
        for n, context_of in enumerate((*columns, {}))
    )
    import_study(context, OPERATOR, Study(Task("held", "A task"), instances, tuple(map(Criterion, CRITERIA))))
    with context.store.read() as db:
        by = {one.text: one.id for one in get_criteria_set(db, 1).criteria}  # type: ignore[union-attr]
    adjudicate(context, owner, "held", "q3", by["Be true."], score=2)
    adjudicate(context, owner, "held", "q3", by["Be true."], score=3, revision=1)
    found = get_frames(context, OPERATOR, "held").references
    assert found[["instance", "criterion", "score"]].to_numpy().tolist() == [
        ["q3", "Be true.", 3.0],
        ["q0", "Be true.", 4.0],
    ]
    assert found["source"].tolist() == ["adjudicated scores", "a column of reference scores"]
    adjudicate(context, owner, "held", "q3", by["Be true."], score=5, revision=2)
    assert get_frames(context, OPERATOR, "held").references["score"].tolist() == [5.0, 4.0]
