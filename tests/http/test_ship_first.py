"""Acknowledged only once it is in the snapshot place: a kill right after the answer and a wiped disk lose nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from coeval.domain import Plan, Study, Terms
from coeval.errors import InputError
from coeval.settings import Settings, Snapshots, load_settings
from coeval.ui.app.scrutiny_tab import add_scrutiny_api
from coeval.ui.crowd_pages.routes import add_joining
from coeval.ui.server import ship_first
from coeval.ui.server.identity import COOKIE
from coeval.ui.server.payloads import add_error_answers
from coeval.ui.server.ship_first import ShipFirst
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import plans
from coeval.usecases.hosting.replication import Keeper, get_alert, get_snapshots
from coeval.usecases.hosting.startup import open_kept
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.benchmarks.saves import Annotator, Tally, count_lost, make_file
from tests.conftest import make_place
from tests.http.test_scrutiny import BASE, body
from tests.support.serving.live_server import LiveServer
from tests.support.studies.crowd_links import form, query


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    base = load_settings({}, db=tmp_path / "live" / "coeval.db")
    return replace(
        base, snapshots=Snapshots(make_place(tmp_path / "place"), ship_first=True, limit_seconds=0.05)
    )


@pytest.fixture
def kept(settings: Settings) -> Iterator[tuple[Context, Keeper]]:
    store, keeper = open_kept(settings)
    assert keeper is not None
    with closing(store):
        yield Context(store, settings), keeper
        keeper.stop()


@pytest.mark.slow
def test_a_kill_right_after_the_answer_and_a_wiped_disk_lose_nothing(tmp_path: Path) -> None:
    db = tmp_path / "live" / "coeval.db"
    db.parent.mkdir()
    make_file(db, documents=20)
    place = {"COEVAL_SNAPSHOT_DIR": str(make_place(tmp_path / "place")), "COEVAL_SHIP_FIRST": "yes"}
    server = LiveServer(db, log=tmp_path / "server.log", **place)
    try:
        for kill in range(3):
            acknowledged = asyncio.run(confirm_until(server, f"Ana {kill}", 4))
            server.kill9()
            for path in db.parent.iterdir():
                path.unlink()
            assert not db.exists()
            server.restart()
            assert count_lost(db, acknowledged) == 0
    finally:
        server.stop()


async def confirm_until(server: LiveServer, name: str, count: int) -> list[str]:
    """The keys of so many saves, the last one acknowledged just now."""
    annotator, tally = Annotator(server, name), Tally()
    await annotator.start()
    while len(tally.acknowledged) < count:
        await annotator.confirm(tally)
        assert not tally.errors
    annotator.stop()
    return tally.acknowledged


def test_a_save_that_does_not_reach_the_place_says_so_and_is_answered_once_it_does(
    kept: tuple[Context, Keeper], study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, keeper = kept
    owner, token = sign_in(context, "Olu")
    import_study(context, owner, study)
    app = FastAPI()
    add_error_answers(app)
    add_scrutiny_api(app, context)
    app.add_middleware(ShipFirst, context=context)
    browser = TestClient(app, cookies={COOKIE: token})
    step = browser.post(f"{BASE}/step").json()  # opening saves nothing, and waits for nothing
    sent = body(step, 4.0)
    with monkeypatch.context() as patch:
        patch.setattr(ship_first, "PATIENCE_SECONDS", 0.1)  # nobody ships yet
        late = browser.post(f"{BASE}/submissions", json=sent)
    assert late.status_code == 503 and late.json()["error"] == "storage"
    assert "This browser keeps the answer" in late.json()["message"]
    refused = browser.post(f"{BASE}/submissions", json={**sent, "uid": "x" * 100})
    assert refused.status_code == 422, "a refusal waits for nothing"

    stop = Event()
    monkeypatch.setattr(ship_first, "PATIENCE_SECONDS", 60.0)
    shipping = Thread(target=lambda: [keeper.take() for _ in iter(lambda: stop.wait(0.01), True)])
    shipping.start()
    try:
        again = browser.post(f"{BASE}/submissions", json=sent)
    finally:
        stop.set()
        shipping.join()
    assert again.status_code == 200 and again.json()["saved"]["revision"] == 1, "it was stored the first time"
    keeper.lost = "Another server serves this study."
    lost = browser.post(f"{BASE}/submissions", json=sent)
    assert lost.status_code == 503 and "Another server" in lost.text
    keeper.lost = ""


def test_consent_to_a_study_waits_as_a_save_does(
    kept: tuple[Context, Keeper], study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, keeper = kept
    owner = sign_in(context, "Olu")[0]
    import_study(context, owner, study)
    terms = Terms(consent="We keep it.", service="prolific", code_done="DONE1", code_declined="NO1")
    plans.set_plan(context, owner, "demo", Plan(per_instance=1, batch=2, quota=4, terms=terms))
    app = FastAPI()
    add_joining(app, context)
    app.add_middleware(ShipFirst, context=context)
    browser = TestClient(app, follow_redirects=False)
    assert browser.get("/s/demo", params=query(1)).status_code == 200  # looking waits for nothing
    monkeypatch.setattr(ship_first, "PATIENCE_SECONDS", 0.1)
    late = browser.post("/s/demo/consent", data=form(1))
    assert late.status_code == 503 and "reload this page" in late.text and "location" not in late.headers
    assert browser.post("/s/demo/consent", data={"worker": "nobody!"}).status_code == 403
    keeper.take()
    monkeypatch.setattr(ship_first, "needs_shipping", lambda context, moment: False)
    again = browser.post("/s/demo/consent", data=form(1))
    assert "Your return code" in again.text, (
        "the same form sent again goes on, with the code that was not seen"
    )


def test_owners_are_warned_where_a_change_waited_for_longer_than_they_allow(
    kept: tuple[Context, Keeper], settings: Settings
) -> None:
    context, keeper = kept
    owner = sign_in(context, "Olu")[0]
    keeper.take()
    keeper.shippers[0]._lags.clear()
    assert get_alert(context, owner) == ""
    keeper.shippers[0]._lags.append((keeper.noted_at, 7.0))
    assert "on this machine alone for 7.0 s" in get_alert(context, owner)
    assert "your limit is 0.05 s" in get_alert(context, owner)
    state = get_snapshots(context, owner)
    assert state.ships_first and state.places[0].is_over
    assert not replace(state.places[0], limit=0.0).is_over, "without a limit nothing is over it"
    assert "your limit" in get_alert(context, OPERATOR)


def read(**env: str) -> Any:
    return load_settings({f"COEVAL_{name.upper()}": value for name, value in env.items()}).snapshots


def test_the_settings_are_read_and_refused_in_one_sentence(tmp_path: Path) -> None:
    assert read(loss_limit="2.5").limit_seconds == 2.5 and read().limit_seconds == 0
    assert read(ship_first="yes").ship_first and not read(ship_first="no").ship_first
    for name, wrong in (
        ("loss_limit", "soon"),
        ("loss_limit", "0"),
        ("loss_limit", "nan"),
        ("ship_first", "1"),
    ):
        with pytest.raises(InputError, match=f"COEVAL_{name.upper()} is “{wrong}”: write"):
            read(**{name: wrong})
    with pytest.raises(InputError, match="no place is set: set COEVAL_SNAPSHOT_DIR"):
        open_kept(load_settings({"COEVAL_SHIP_FIRST": "yes"}, db=tmp_path / "x.db"))
    with pytest.raises(InputError, match="leave out .*COEVAL_SHIP_FIRST to use"):
        open_kept(load_settings({"COEVAL_SHIP_FIRST": "yes"}, db="postgresql://host/db"))
