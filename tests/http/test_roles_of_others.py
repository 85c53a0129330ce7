# ruff: noqa: F401, F811 (a fixture that is imported is an argument of tests)
"""Acting by what is somebody else's: their keys, drafts, instances, ballots, invitations and links."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.store.queries import tasks
from tests.support.serving.http_doors import MAIN, NO_SUCH_ID, SETUP, aliases_of, body_of, file_of
from tests.support.serving.http_page import Answer, Page, ask
from tests.support.serving.http_world import OTHER, SIGNED_IN, World, world
from tests.support.studies.crowd_links import pid

pytestmark = pytest.mark.slow
API = "/api/scrutiny/work"


@pytest.fixture(autouse=True)
def as_it_was(world: World) -> Iterator[None]:
    yield
    world.restore()


def refuse(world: World, answer: Answer, *statuses: int) -> None:
    """Assert that it was refused by one of these statuses, in words, and that nothing was written."""
    assert answer.status in statuses and len(answer.text) > 10 and not answer.broken, answer
    assert not world.has_changed(), answer


def save(world: World, who: str, **changed: Any) -> Answer:
    body = body_of(world, who) | changed
    return ask(world.browser(who), "POST", f"{API}/submissions", json=body)


# ---- evaluations ---------------------------------------------------------------------------------------------


def test_what_is_one_s_own_is_saved(world: World) -> None:
    for who in SIGNED_IN:
        assert save(world, who).status == 200
    assert world.has_changed()


@pytest.mark.parametrize("who", SIGNED_IN)
def test_a_key_of_somebody_s_save_opens_and_changes_nothing(world: World, who: str) -> None:
    theirs = world.saved["other"]
    aliases = aliases_of(world, who, "work")
    for instance in (world.saved[who].instance, theirs.instance):
        instance = aliases.hide("instance", instance)
        refuse(world, save(world, who, uid=theirs.uid, instance=instance, criterion=theirs.criterion), 422)


@pytest.mark.parametrize("who", SIGNED_IN)
def test_a_draft_of_another_instance_is_not_what_was_shown(world: World, who: str) -> None:
    theirs = world.saved["other"]
    assert theirs.draft and theirs.draft != world.saved[who].draft
    for draft in (aliases_of(world, who, "work").hide("draft", theirs.draft), NO_SUCH_ID):
        refuse(world, save(world, who, draft=draft), 409)


@pytest.mark.parametrize("who", SIGNED_IN)
def test_lines_of_another_draft_are_refused(world: World, who: str) -> None:
    aliases = aliases_of(world, who, "work")
    rows = [{"id": aliases.hide("row", row.id), "action": "approve"} for row in world.saved["other"].rows]
    refuse(world, save(world, who, rows=rows), 422)
    refuse(world, save(world, who, rows=[{"id": NO_SUCH_ID, "action": "approve"}]), 422)


@pytest.mark.parametrize("who", SIGNED_IN)
def test_an_instance_of_another_task_is_not_here(world: World, who: str) -> None:
    for instance in foreign_instances(world):
        instance = aliases_of(world, who, "work").hide("instance", instance)
        place = {"instance": instance, "criterion": world.saved[who].criterion}
        browser = world.browser(who)
        refuse(world, ask(browser, "POST", f"{API}/step", params=place), 404)
        refuse(world, ask(browser, "GET", f"{API}/history", params=place), 404)
        refuse(world, ask(browser, "POST", f"{API}/marks", json={"instance": instance, "skipped": True}), 404)
        suggested = {"instance": instance, "text": "Be brief."}
        refuse(world, ask(browser, "POST", f"{API}/suggestions", json=suggested), 404)
        refuse(world, save(world, who, **place), 404)


def foreign_instances(world: World) -> list[int]:
    """An instance of a task that everybody on the team may judge, and one of a study of others."""
    with world.context.store.read() as db:
        found = [tasks.get_task(db, slug) for slug in ("demo", "work" + OTHER)]
        return [next(tasks.list_instances(db, one.id)).id for one in found if one]


@pytest.mark.parametrize("who", SIGNED_IN)
def test_a_criterion_of_another_task_is_not_here(world: World, who: str) -> None:
    foreign = criterion_of(world, "quiz")
    refuse(world, save(world, who, criterion=foreign), 404)
    aliases = aliases_of(world, who, "work")
    place = {"instance": aliases.hide("instance", world.saved[who].instance), "criterion": foreign}
    refuse(world, ask(world.browser(who), "POST", f"{API}/step", params=place), 404)


def criterion_of(world: World, slug: str) -> int:
    from coeval.store.queries import criteria

    with world.context.store.read() as db:
        task = tasks.get_task(db, slug)
        assert task is not None
        found = criteria.get_criteria_set(db, task.id)
        assert found is not None
        return found.criteria[0].id


# ---- ballots -------------------------------------------------------------------------------------------------


def vote(world: World, who: str, round_: int, ids: list[int], revision: int = 0) -> Answer:
    rows = [{"id": one, "action": "delete", "reason": "Mine."} for one in ids]
    sent = {"round": round_, "revision": revision, "rows": rows, "added": []}
    return ask(world.browser(who), "POST", "/api/criteria/voting/ballot", json=sent)


def list_votes(world: World) -> list[tuple[Any, ...]]:
    sql = "SELECT b.*, v.* FROM ballot b JOIN vote v ON v.ballot = b.id WHERE b.annotator = ? ORDER BY 1, 2"
    with world.context.store.read() as db:
        return list(db.conn.execute(sql, [world.people["other"].id]).fetchall())


@pytest.mark.parametrize("who", ["owner", "researcher", "annotator"])
def test_a_ballot_is_one_s_own(world: World, who: str) -> None:
    """Their revision, or the criteria of another vote, are refused; one's own vote leaves theirs as it is."""
    before = list_votes(world)
    assert before
    round_, ids = world.proposed["voting"]
    foreign, theirs = world.proposed["voting" + OTHER]
    refuse(world, vote(world, who, round_, ids, revision=1), 409)
    refuse(world, vote(world, who, foreign, theirs), 409)
    refuse(world, vote(world, who, round_, theirs), 422)
    refuse(world, vote(world, who, round_, [NO_SUCH_ID]), 422)
    assert vote(world, who, round_, ids).status == 200
    assert world.has_changed() and list_votes(world) == before


# ---- invitations and links -------------------------------------------------------------------------------------


def invite(world: World, name: str = "") -> str:
    """The path of an invitation that the owner makes."""
    page = world.open_page("owner", SETUP)
    page.put({"invite-name": name})
    assert page.fire("invite-make").status == 200
    return "/invite/" + str(page.get("invite-link")).rpartition("/")[2]


def accept(world: World, path: str, name: str, who: str = "nobody") -> Answer:
    form = {"name": name, "password": "correct horse battery"}
    return ask(world.browser(who), "POST", path, data=form)


def dump(world: World) -> list[str]:
    with world.context.store.read() as db:
        return list(db.conn.iterdump())


def test_an_invitation_lets_one_person_in_once(world: World) -> None:
    path = invite(world)
    assert accept(world, path, "Nia").status == 303
    after = dump(world)
    for who in ("nobody", "annotator", "guest"):
        assert accept(world, path, "Noa", who).status == 410
        assert ask(world.browser(who), "GET", path).status == 410
    assert dump(world) == after
    assert accept(world, f"/invite/{uuid.uuid4().hex}", "Noa").status == 410
    assert dump(world) == after


def test_an_invitation_for_somebody_is_for_nobody_else(world: World) -> None:
    """Whatever name is typed, and whoever is signed in, it sets the password of the person it names."""
    path = invite(world, "Abe")
    assert accept(world, path, "Olu", "annotator").status == 303
    with world.context.store.read() as db:
        found = [
            tuple(row)
            for row in db.conn.execute("SELECT annotator, subject FROM account WHERE kind = 'password'")
        ]
    assert found == [(world.people["other"].id, "Abe")]
    assert accept(world, path, "Abe").status == 410


def test_an_invitation_takes_no_name_that_is_somebody_s(world: World) -> None:
    path = invite(world)
    before = dump(world)
    assert accept(world, path, "Olu").status == 422
    assert dump(world) == before


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


# ---- files of the machine ----------------------------------------------------------------------------------------

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
