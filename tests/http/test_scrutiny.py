"""The scrutiny routes: who may, what they answer, and that no answer gives a withheld draft away."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from coeval.domain import Filter, Person, Study
from coeval.ui.app.scrutiny_tab import add_scrutiny_api
from coeval.ui.server.identity import COOKIE
from coeval.ui.server.payloads import add_error_answers
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.policies import set_team
from coeval.usecases.scrutiny.steps import Move, get_aliases, get_step
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.support.studies.scrutiny_steps import sent_of, use_design

BASE = "/api/scrutiny/demo"
DRAFTED = ("It does.", "The answer” is plain", "no such words")


@pytest.fixture
def ask(context: Context, owner: Person, study: Study) -> Callable[[str], TestClient]:
    """A browser of the person of that name; of nobody where the name is empty."""
    import_study(context, owner, study)
    app = FastAPI()
    add_error_answers(app)
    add_scrutiny_api(app, context)

    def open_(name: str) -> TestClient:
        return TestClient(app, cookies={COOKIE: sign_in(context, name)[1]} if name else {})

    return open_


def body(step: dict[str, Any], score: float, **values: Any) -> dict[str, Any]:
    shown = step["evaluation"]
    lines = [row["id"] for row in shown["rows"] if row["kind"] != "score"]
    first = {"first": True} if shown["asks_first"] else {}
    return {
        "uid": str(uuid4()),
        "instance": step["instance"]["id"],
        "criterion": step["criterion"],
        "draft": shown["draft"],
        "revision": shown["revision"],
        "score": score,
        "rows": [{"id": line, "action": "approve"} for line in lines],
        "added": [],
        **first,
        **values,
    }


def gives_away(answer: Any) -> list[str]:
    return [text for text in DRAFTED if text in answer.text]


def test_nobody_without_a_session(ask: Callable[[str], TestClient]) -> None:
    client = ask("")
    for answer in (
        client.post(f"{BASE}/step"),
        client.get(f"{BASE}/history", params={"instance": 1, "criterion": 1}),
        client.post(f"{BASE}/marks", json={"instance": 1}),
    ):
        assert (answer.status_code, answer.json()["error"]) == (401, "sign_in")


def test_an_owner_is_told_why_an_instance_of_others_does_not_open(
    context: Context, owner: Person, ask: Callable[[str], TestClient]
) -> None:
    client = ask(owner.name)
    assert client.post(f"{BASE}/step?item=2a").json()["instance"]
    others = [sign_in(context, name)[0].name for name in ("Ana", "Ben")]
    set_team(context, owner, "demo", others, 1)
    refused = [client.post(f"{BASE}/step?item={name}") for name in ("1a", "1b", "2b")]
    assert {answer.status_code for answer in refused} == {403}
    assert "Instance “1a” is not assigned to you" in refused[0].json()["message"]


CONTENT = ("criterion", "evaluation", "evaluations")


def read_queue(context: Context, name: str) -> list[tuple[Any, ...]]:
    """Return the arm, the moment of opening and the reserved arm of each instance, in the person's order."""
    sql = (
        "SELECT s.arm, s.opened_at, s.reserved_arm FROM assignment s JOIN annotator a ON a.id = s.annotator"
        " WHERE a.name = ? ORDER BY s.position"
    )
    with context.store.read() as db:
        return list(db.conn.execute(sql, [name]).fetchall())


@pytest.mark.parametrize(
    "design",
    [
        {},
        {"blind_share": 0.5},
        {"blind_share": 0.4, "first_share": 0.3, "evidence_share": 0.2},
    ],
)
@pytest.mark.parametrize("sheet", [False, True])
def test_what_is_fetched_ahead_is_what_the_save_opens(
    context: Context, owner: Person, ask: Callable[[str], TestClient], design: dict[str, float], sheet: bool
) -> None:
    """It is reserved, not opened: its arm is kept, and nothing else begins before the save before it."""
    use_design(context, owner, **design)
    compared = 0
    for name in ("Ana", "Ben", "Cat", "Dan"):
        client = ask(name)
        step = client.post(f"{BASE}/step", params={"sheet": sheet}).json()
        while step["instance"]:
            place = {"instance": step["instance"]["id"], "criterion": step["criterion"], "sheet": sheet}
            move = "next_sheet" if sheet else "next"
            before = read_queue(context, name)
            ahead = client.post(f"{BASE}/step", params={**place, "move": move, "ahead": True}).json()
            after = read_queue(context, name)
            assert [row[:2] for row in after] == [row[:2] for row in before], "looking ahead opened something"
            parts = step.get("evaluations") or [step["evaluation"]]
            firsts = any(part["asks_first"] for part in parts)
            sent = [body({**step, "evaluation": part, "criterion": part.get("criterion", step["criterion"])}, 3)
                    for part in parts]  # fmt: skip
            sheets = {"uid": str(uuid4()), "evaluations": sent}
            answer = client.post(
                f"{BASE}/sheets" if sheet else f"{BASE}/submissions", json=sheets if sheet else sent[0]
            )
            assert answer.status_code == 200, answer.text
            step = answer.json()["next"]
            if firsts:
                continue  # the draft follows its own first score, and was not in what was fetched
            assert bool(ahead) == bool(step["instance"])
            if ahead:
                compared += 1
                assert ahead["instance"]["id"] == step["instance"]["id"]
                assert [ahead.get(part) for part in CONTENT] == [step.get(part) for part in CONTENT]
    assert compared >= 8


def test_no_route_gives_a_withheld_draft_away(
    context: Context, owner: Person, ask: Callable[[str], TestClient]
) -> None:
    """Every filter, move, place and criterion; a forged confirm with the draft's id; marks and history."""
    drafted = sent_of(get_step(context, owner, "demo"), 4)
    for design in ({"first_share": 1.0}, {"blind_share": 1.0}):
        use_design(context, owner, **design)
        client = ask(f"Ana {design}")
        step = client.post(f"{BASE}/step").json()
        places: list[dict[str, Any]] = [{"at": n} for n in range(1, 5)]
        places += [
            {"instance": step["instance"]["id"], "criterion": c["id"], "move": move}
            for c, move in itertools.product(step["criteria"], Move)
        ]
        answers = [
            client.post(f"{BASE}/step", params={**place, "filter": which, **more})
            for place, which in itertools.product(places, Filter)
            for more in ({}, {"ahead": True}, {"ahead": True, "sheet": True})
        ]
        # the ids that this person would know it all by, had it been shown to them
        aliases = get_aliases(context, sign_in(context, f"Ana {design}")[0], "demo")
        assert drafted.draft
        key = {"instance": aliases.hide("instance", drafted.instance), "criterion": drafted.criterion}
        forged = body(step, 4, **key, draft=aliases.hide("draft", drafted.draft))
        forged["rows"] = [{"id": aliases.hide("row", row.id), "action": "approve"} for row in drafted.rows]
        for first in (True, False):
            answers.append(client.post(f"{BASE}/submissions", json=forged | {"first": first}))
            assert answers[-1].status_code in (409, 422), answers[-1].text
        answers.append(client.get(f"{BASE}/history", params=key))
        answers.append(client.post(f"{BASE}/marks", json={"instance": key["instance"], "flagged": True}))
        assert len(answers) == 3 * 3 * (4 + 2 * len(Move)) + 4
        for answer in answers:
            assert not gives_away(answer)
            assert '"draft_score":4' not in answer.text.replace(" ", "")


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"message": 1}, "“text” is missing: reload the page and try again."),
        (
            {"message": 0, "text": "x"},
            "“message” is 0, which is not valid: reload the page and try again.",
        ),
        (
            {"message": 1, "text": "x", "score": 3},
            "the score is not expected here: reload the page and try again.",
        ),
    ],
)
def test_what_cannot_be_read_is_told_in_our_words(
    ask: Callable[[str], TestClient], sent: dict[str, Any], said: str
) -> None:
    answer = ask("Ann").post(f"{BASE}/answers", json=sent)
    assert (answer.status_code, answer.json()) == (422, {"error": "input", "message": said})
    query = ask("Ann").get(f"{BASE}/history", params={"instance": "x", "criterion": 1})
    assert query.json()["message"].startswith("“instance” is 'x', which is not valid")
