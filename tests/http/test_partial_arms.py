"""Arms that show a part of the draft: what leaves the server, what is kept, and what is refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from coeval.domain import (
    Draft,
    DraftStatus,
    EvaluationRow,
    Person,
    Quote,
    QuotePlace,
    RowKind,
    Study,
)
from coeval.rules.arms import Design
from coeval.rules.evaluation_rows import keep_reasons, list_marks
from coeval.stats.report.draft_account import draft_account_section
from coeval.ui.app.scrutiny_tab import add_scrutiny_api
from coeval.ui.server.identity import COOKIE
from coeval.ui.server.payloads import add_error_answers
from coeval.usecases.access import Context
from coeval.usecases.export import export_folder
from coeval.usecases.reports.statistics import get_frames
from coeval.usecases.scrutiny.design import set_design
from coeval.usecases.scrutiny.steps import Move
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.scrutiny_steps import save, use_design, walk

BASE = "/api/scrutiny/demo"
VERDICTS = ("It does.", "no such words", "I give it a 4", "four points")
REASON = "The answer” is plain"


def telling(study: Study) -> Study:
    """The study with a further line of evidence that states the score, once as a number and once as a word."""
    run = study.runs[0]
    said = (
        EvaluationRow(RowKind.EVIDENCE, "For this I give it a 4."),
        EvaluationRow(RowKind.EVIDENCE, "It earns four points."),
    )
    drafts = tuple(replace(draft, rows=(*draft.rows, *said)) for draft in run.drafts)
    return replace(study, runs=(replace(run, drafts=drafts), *study.runs[1:]))


@pytest.fixture
def ask(context: Context, owner: Person, study: Study) -> Callable[[str], TestClient]:
    import_study(context, owner, telling(study))
    app = FastAPI()
    add_error_answers(app)
    add_scrutiny_api(app, context)
    return lambda name: TestClient(app, cookies={COOKIE: sign_in(context, name)[1]})


def body(step: dict[str, Any], score: float, **values: Any) -> dict[str, Any]:
    shown = step["evaluation"]
    rows = [{"id": row["id"], "action": "approve"} for row in shown["rows"] if row["kind"] != "score"]
    sent = {"uid": str(uuid4()), "instance": step["instance"]["id"], "criterion": step["criterion"]}
    sent |= {
        "draft": shown["draft"],
        "revision": shown["revision"],
        "score": score,
        "rows": rows,
        "added": [],
    }
    return sent | values


def everything(client: TestClient) -> list[Any]:
    """Every answer that a person can get of their queue: each place, each move, before a save and after it."""
    step = client.post(f"{BASE}/step").json()
    places: list[dict[str, Any]] = [{"at": n} for n in range(1, 5)]
    places += [
        {"instance": step["instance"]["id"], "criterion": one["id"], "move": move}
        for one, move in itertools.product(step["criteria"], Move)
    ]
    answers = [client.post(f"{BASE}/step", params=place) for place in places]
    answers += [client.post(f"{BASE}/step", params={**place, "sheet": "true"}) for place in places]
    answers.append(client.post(f"{BASE}/submissions", json=body(step, 2)))
    assert answers[-1].status_code == 200, answers[-1].text
    key = {"instance": step["instance"]["id"], "criterion": step["criterion"]}
    answers += [client.post(f"{BASE}/step", params=key), client.get(f"{BASE}/history", params=key)]
    return answers


def test_evidence_only_sends_places_and_no_word_of_the_draft(
    context: Context, owner: Person, ask: Callable[[str], TestClient]
) -> None:
    use_design(context, owner, evidence_share=1)
    client = ask("Ana")
    step = client.post(f"{BASE}/step").json()
    shown = step["evaluation"]
    assert (shown["arm"], shown["draft"], shown["draft_score"], shown["score"]) == (
        "evidence",
        None,
        None,
        None,
    )
    assert shown["marks"] == [{"start": 0, "end": 10, "place": "output"}]
    assert [(row["kind"], row["id"], row["text"]) for row in shown["rows"]] == [("score", None, "")]
    for answer in everything(client):
        assert not [text for text in (*VERDICTS, REASON) if text in answer.text]
        assert '"draft_score":4' not in answer.text.replace(" ", "")


def test_evidence_and_reasons_send_the_lines_that_state_no_score(
    context: Context, owner: Person, ask: Callable[[str], TestClient]
) -> None:
    use_design(context, owner, reasons_share=1)
    client = ask("Ana")
    shown = client.post(f"{BASE}/step").json()["evaluation"]
    assert (shown["arm"], shown["draft_score"], shown["score"], shown["marks"]) == ("reasons", None, None, [])
    assert [(row["kind"], bool(row["id"])) for row in shown["rows"]] == [
        ("evidence", True),
        ("score", False),
        ("evidence", True),
    ]
    assert any(REASON in row["text"] for row in shown["rows"])
    for answer in everything(client):
        assert not [text for text in ("It does.", "I give it a 4", "four points") if text in answer.text]
        assert '"draft_score":4' not in answer.text.replace(" ", "")


@pytest.mark.parametrize("arm", ["evidence", "reasons"])
def test_pages_of_drafts_with_other_verdicts_are_the_same(
    arm: str, context: Context, owner: Person, study: Study, tmp_path: Path
) -> None:
    """Two studies whose drafts differ in conclusion and score alone: a person's answers are equal, ids aside."""

    def seen(slug: str, score: float, conclusion: str) -> str:
        changed = [
            replace(
                draft,
                score=score,
                rows=(EvaluationRow(RowKind.CONCLUSION, conclusion), EvaluationRow(RowKind.SCORE, f"{score:g}"),
                      *draft.rows[2:]),
            )
            for draft in study.runs[0].drafts
        ]  # fmt: skip
        own = replace(study, task=replace(study.task, slug=slug, name="A task"),
                      runs=(replace(study.runs[0], drafts=tuple(changed)),))  # fmt: skip
        import_study(context, owner, own)
        set_design(context, owner, slug, replace(Design(), **{f"{arm}_share": 1.0}))
        app = FastAPI()
        add_scrutiny_api(app, context)
        client = TestClient(app, cookies={COOKIE: sign_in(context, "Ana")[1]})
        answers = [client.post(f"/api/scrutiny/{slug}/step", params={"at": n}).json() for n in range(1, 5)]
        by_text = sorted(answers, key=lambda one: (one["instance"]["input"], one["instance"]["output"]))
        return json.dumps([one["evaluation"] for one in by_text], sort_keys=True)

    def without_ids(text: str) -> str:
        def bare(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: bare(one) for key, one in value.items() if key not in ("id", "draft")}
            return [bare(one) for one in value] if isinstance(value, list) else value

        return json.dumps(bare(json.loads(text)))

    low, high = seen("low", 1.0, "It is bad."), seen("high", 5.0, "It is splendid.")
    assert without_ids(low) == without_ids(high)


def test_what_is_saved_says_what_was_seen(
    context: Context, owner: Person, ask: Callable[[str], TestClient], tmp_path: Path
) -> None:
    for share, name in (("evidence_share", "Ana"), ("reasons_share", "Ben")):
        use_design(context, owner, **{share: 1})
        client = ask(name)
        step = client.post(f"{BASE}/step").json()
        assert client.post(f"{BASE}/submissions", json=body(step, 3)).status_code == 200
    scores = get_frames(context, owner, "demo").scores
    assert scores["arm"].tolist() == ["evidence", "reasons"]
    assert scores["shown_score"].isna().all() and scores["draft_score"].tolist() == [4, 4]
    export_folder(context, owner, "demo", tmp_path)
    rows = pd.read_csv(tmp_path / "scores.csv")
    assert rows["arm"].tolist() == ["evidence", "reasons"] and rows["shown_score"].isna().all()
    # of what the draft says, only the lines that were seen are in the submission
    lines = pd.read_csv(tmp_path / "rows.csv").query("arm == 'reasons'")
    assert sorted(lines["kind"]) == ["evidence", "evidence", "score"]


def test_a_forged_save_with_withheld_lines_is_refused(
    context: Context, owner: Person, ask: Callable[[str], TestClient]
) -> None:
    use_design(context, owner)
    full = ask("Ann").post(f"{BASE}/step").json()["evaluation"]
    for share in ("evidence_share", "reasons_share"):
        use_design(context, owner, **{share: 1})
        client = ask(f"Ana {share}")
        step = client.post(f"{BASE}/step").json()
        forged = body(step, 4, rows=[{"id": row["id"], "action": "approve"} for row in full["rows"]])
        assert client.post(f"{BASE}/submissions", json=forged).status_code in (409, 422)
    client = ask("Ben")
    step = client.post(f"{BASE}/step").json()
    undecided = client.post(f"{BASE}/submissions", json=body(step, 4, rows=[]))
    assert undecided.status_code == 422 and "need a decision" in undecided.json()["message"]


def test_scores_of_the_parts_are_neither_assisted_nor_blind(context: Context, owner: Person) -> None:
    import_study(context, owner, make_study(6))
    people = [sign_in(context, name)[0] for name in ("Ana", "Ben", "Cem", "Dee")]
    for person, share in zip(people, ("evidence_share", "reasons_share", "blind_share", None), strict=True):
        use_design(context, owner, **({share: 1} if share else {}))
        for step in walk(context, person):
            save(context, person, step, 3)
    frames = get_frames(context, owner, "demo")
    assert set(frames.unaided["arm"]) == {"blind"}
    account = draft_account_section(frames)
    assert [one.arm for one in account.arms] == ["evidence", "reasons", "assisted"]
    assert {one.scores for one in account.arms} == {len(frames.scores) // 4}


def test_marks_are_places_in_the_order_of_the_text() -> None:
    here, twice = Quote("b", 5, 6, QuotePlace.OUTPUT), Quote("a", 1, 2, QuotePlace.OUTPUT)
    rows = (
        EvaluationRow(RowKind.CONCLUSION, "Good.", (Quote("z", 8, 9, QuotePlace.OUTPUT),)),
        EvaluationRow(RowKind.EVIDENCE, "b is fine", (here, twice)),
        EvaluationRow(RowKind.EVIDENCE, "a again", (twice, Quote("nowhere"))),
    )
    draft = Draft(1, 1, 4.0, rows, reason="the mean of three answers")
    assert [one.start for one in list_marks(draft)] == [1, 5]
    kept = keep_reasons(replace(draft, score=None, status=DraftStatus.UNSCORED))
    assert (kept.score, kept.reason, kept.status, len(kept.rows)) == (None, "", DraftStatus.OK, 2)
