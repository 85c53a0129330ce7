# ruff: noqa: F401, F811 (a fixture that is imported is an argument of tests)
"""Acting by what is somebody else's: links to other studies, and files of the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.serving.http_doors import MAIN, SETUP, body_of, file_of
from tests.support.serving.http_page import Page, ask
from tests.support.serving.http_world import OTHER, World, world
from tests.support.studies.crowd_links import pid

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def as_it_was(world: World) -> Iterator[None]:
    yield
    world.restore()


def dump(world: World) -> list[str]:
    with world.context.store.read() as db:
        return list(db.conn.iterdump())


LINKS = ({"PROLIFIC_PID": pid(1)}, {"workerId": pid(1), "assignmentId": "A1"})


@pytest.mark.parametrize("slug", ["joined", "fresh", "work" + OTHER])
def test_a_link_leads_into_no_study_that_takes_none(world: World, slug: str) -> None:
    """The guest's own worker id, brought to a study that people join by signing in."""
    for query in LINKS:
        page = ask(world.browser("nobody"), "GET", f"/s/{slug}", params=query)
        assert page.status == 200 and "consent" not in page.text.partition("<form")[2]
    form = {"worker": pid(1)}
    answer = ask(world.browser("nobody"), "POST", f"/s/{slug}/consent", data=form)
    # a browser that followed another study's link is led back to that one
    assert answer.led_back or (answer.status == 403 and len(answer.text) > 10)
    assert not world.has_changed()


def test_a_link_of_another_service_is_refused(world: World) -> None:
    page = ask(world.browser("nobody"), "GET", "/s/gate", params=LINKS[1])
    assert page.status == 200 and "<form" not in page.text
    assert not world.has_changed()


def test_who_came_by_one_study_s_link_is_a_stranger_to_the_others(world: World) -> None:
    with world.server.browser() as browser:
        assert "Your return code" in browser.post("/s/gate/consent", data={"worker": pid(2)}).text
        assert browser.post("/s/gate/begin").status_code == 303
        assert browser.post("/api/scrutiny/gate/step").status_code == 200
        before = dump(world)
        for slug in ("work", "demo", "quiz", "voting", "work" + OTHER):
            for way in ("step", "history?instance=1&criterion=1"):
                answer = ask(browser, "POST" if way == "step" else "GET", f"/api/scrutiny/{slug}/{way}")
                assert answer.status == 403 and "The answer" not in answer.text
            body = body_of(world, "annotator")
            assert ask(browser, "POST", f"/api/scrutiny/{slug}/submissions", json=body).status == 403
        for slug in ("joined", "exam", "warned"):
            for step in ("begin", "go-on", "hand-in"):
                assert ask(browser, "POST", f"/s/{slug}/{step}").status == 403
        assert dump(world) == before


SECRET = "secret-of-the-machine"


def forge(page: Page, path: Path) -> None:
    """Name a file of the server's, as if it had been sent up, in every field there is."""
    for number in page.values:
        page.values[number] = (
            [file_of(str(path))] if page.parts[number].get("file_count") else file_of(str(path))
        )


def copies() -> list[Path]:
    uploads = Path(os.environ["GRADIO_TEMP_DIR"])
    return [path for path in uploads.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize("who, mount", [("owner", SETUP), ("annotator", SETUP), ("annotator", MAIN)])
def test_no_event_reads_a_file_that_nobody_sent(world: World, tmp_path: Path, who: str, mount: str) -> None:
    """Nor is it copied to where uploads lie: a device without an end would fill the disk."""
    secret = tmp_path / "environ.csv"
    secret.write_text(f"input,output\n{SECRET},1\n")
    page = world.open_page(who, mount)
    for one in page.config["dependencies"]:
        forge(page, secret)
        page.put({"task-picker": "demo"} | ({"import-format": "auto"} if mount == SETUP else {}))
        assert SECRET not in page.run(one).text
    assert not copies()
