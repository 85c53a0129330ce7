"""The routes of the ballot and of the owner's decisions: who may, and what a refusal holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from coeval.domain import Person, Proposal
from coeval.ui.app.ballot_routes import add_criteria_api
from coeval.ui.server.identity import COOKIE
from coeval.ui.server.payloads import add_error_answers
from coeval.usecases.access import Context
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study

BASE = "/api/criteria/demo"


@pytest.fixture
def ask(context: Context, owner: Person) -> Callable[[str], TestClient]:
    """A browser of the person of that name, with a vote open; of nobody where the name is empty."""
    proposals = [Proposal("Be true."), Proposal("Be kind.")]
    import_study(context, owner, replace(make_study(), criteria=(), runs=()), proposals)
    app = FastAPI()
    add_error_answers(app)
    add_criteria_api(app, context)

    def open_(name: str) -> TestClient:
        return TestClient(app, cookies={COOKIE: sign_in(context, name)[1]} if name else {})

    return open_


def body(sheet: dict[str, Any], action: str = "approve", **values: Any) -> dict[str, Any]:
    rows = [{"id": row["id"], "action": action, "reason": "why"} for row in sheet["rows"]]
    return {"round": sheet["round"], "revision": sheet["revision"], "rows": rows, "added": [], **values}


def test_a_ballot_sent_twice_is_saved_once_and_another_is_stale(ask: Callable[[str], TestClient]) -> None:
    client = ask("Ana")
    sheet = client.get(f"{BASE}/ballot").json()
    first, again = (client.post(f"{BASE}/ballot", json=body(sheet)).json() for _ in range(2))
    assert first == again and first["saved"]["revision"] == 1
    stale = client.post(f"{BASE}/ballot", json=body(sheet, "delete"))
    assert (stale.status_code, stale.json()["error"]) == (409, "stale")
    assert [row["action"] for row in stale.json()["now"]["rows"]] == ["approve", "approve"]
    versions = client.get(f"{BASE}/ballot/history").json()["versions"]
    assert [one["revision"] for one in versions] == [1]
    assert [line["label"] for line in versions[0]["lines"]] == ["Be true.", "Be kind."]


def test_a_tie_holds_the_wording_that_a_voter_wrote(ask: Callable[[str], TestClient]) -> None:
    """The owner who revises begins with it; the old wording stood there."""
    ana, owner = ask("Ana"), ask("Olu")
    sheet = ana.get(f"{BASE}/ballot").json()
    revised = body(sheet, "revise")
    for row in revised["rows"]:
        row["new_text"] = f"Better {row['id']}."
    assert ana.post(f"{BASE}/ballot", json=revised).status_code == 200
    owner.post(f"{BASE}/ballot", json=body(owner.get(f"{BASE}/ballot").json()))
    rows = owner.get(f"{BASE}/decisions").json()["rows"]
    assert [(row["label"], row["action"]) for row in rows] == [("tie", None)] * 2
    assert [row["new_text"] for row in rows] == [f"Better {row['id']}." for row in rows]


def test_decisions_are_owners_and_made_from_the_count_that_holds(ask: Callable[[str], TestClient]) -> None:
    ana, owner = ask("Ana"), ask("Olu")
    for client in (ana, owner):
        client.post(f"{BASE}/ballot", json=body(client.get(f"{BASE}/ballot").json()))
    sheet = owner.get(f"{BASE}/decisions").json()
    assert ana.get(f"{BASE}/decisions").status_code == 403
    assert ana.post(f"{BASE}/decisions", json=body(sheet)).status_code == 403
    ana.post(f"{BASE}/ballot", json=body(ana.get(f"{BASE}/ballot").json(), "delete"))
    stale = owner.post(f"{BASE}/decisions", json=body(sheet))
    assert (stale.status_code, stale.json()["now"]["revision"]) == (409, sheet["revision"] + 1)
    made = [owner.post(f"{BASE}/decisions", json=body(stale.json()["now"])) for _ in range(2)]
    assert [answer.json()["saved"]["revision"] for answer in made] == [1, 1]
    other = owner.post(f"{BASE}/decisions", json=body(stale.json()["now"], "delete"))
    assert other.status_code in (409, 422)
    assert owner.get(f"{BASE}/ballot").status_code == 404
