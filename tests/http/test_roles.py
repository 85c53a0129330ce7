# ruff: noqa: F401, F811 (a fixture that is imported is an argument of tests)
"""Who may do what, tried at every door over HTTP: each use case x role x (own, another's, nobody's).

What is refused is answered as a refusal, never enters the use case, and leaves the file as it was.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import httpx
import pytest

from coeval.domain import Role
from coeval.ui.server.identity import OF_PERSON
from tests.support.serving.http_doors import DOORS, ELSEWHERE, MAIN, OWNERS_DOOR, SETUP, Door
from tests.support.serving.http_page import ask
from tests.support.serving.http_world import WHO, World, load_rules, world

HOUSE = Path(__file__).resolve().parents[2] / "coeval"
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def as_it_was(world: World) -> Iterator[None]:
    yield
    world.restore()


def key_of(door: Door) -> str:
    return f"coeval.{door.use_case}"


def may(key: str, who: str) -> bool:
    """Whether the help's table lets that kind of person call the use case."""
    rule = load_rules()[key]
    if who == "nobody" or (key in OWNERS_DOOR and who != "owner"):
        return False
    return rule.guests if who == "guest" else Role(who) in rule.roles


IDS = [f"{n}-{door.use_case}" for n, door in enumerate(DOORS)]


@pytest.mark.parametrize("door", DOORS, ids=IDS)
@pytest.mark.parametrize("who", WHO)
def test_a_door_opens_to_whom_the_table_names(world: World, door: Door, who: str) -> None:
    key = key_of(door)
    for which in door.tried:
        answer = door.knock(world, who, which)
        told = (door.use_case, who, which, answer)
        assert not answer.broken, told
        if may(key, who) and which in door.yes:
            assert world.was_entered(key), told
            assert door.says in answer.text if answer.refused else not door.says, told
        else:
            assert not world.has_changed(), told
            assert answer.refused and answer.explained or door.part, told
        if not may(key, who):
            assert key not in world.entered, told
        assert not world.entered & ELSEWHERE.keys(), told
        world.restore()


PLAIN = ("/s/", "/download/", "/signout")
"""Forms and links have no header: their address states for whom their page was opened."""


@pytest.mark.parametrize("door", DOORS, ids=IDS)
def test_no_door_opens_to_a_page_of_another_person(world: World, door: Door) -> None:
    """The browser is signed in as another person than the one for whom the page was opened."""
    uid = world.people["other"].uid

    def state(request: httpx.Request) -> None:
        if request.url.path.startswith(PLAIN):
            request.url = request.url.copy_add_param(OF_PERSON, uid)
        else:
            request.headers[OF_PERSON] = uid

    for who in ("owner", "annotator"):
        if not may(key_of(door), who):
            continue
        for which in door.yes:
            for mount in (MAIN, SETUP) if who == "owner" else (MAIN,):
                world.open_page(who, mount)  # before the other person signs in
            browser = world.browser(who)
            browser.event_hooks = {"request": [state]}
            try:
                answer = door.knock(world, who, which)
            finally:
                browser.event_hooks = {}
            told = (door.use_case, who, which, answer)
            assert not world.has_changed() and not answer.broken, told
            assert key_of(door) not in world.entered, told
            world.restore()


def test_every_use_case_has_a_door_or_none_leads_to_it() -> None:
    doors = {key_of(door) for door in DOORS}
    assert not doors & ELSEWHERE.keys()
    missing = load_rules().keys() - doors - ELSEWHERE.keys()
    assert not missing, (
        f"add the requests that lead to these to tests/support/serving/http_doors.py: {missing}"
    )
    gone = (doors | ELSEWHERE.keys()) - load_rules().keys()
    assert not gone, f"tests/support/serving/http_doors.py leads to what is no use case: {gone}"


@pytest.mark.parametrize("key", ELSEWHERE)
def test_what_has_no_door_is_named_in_no_page_or_route(key: str) -> None:
    module, _, name = key.rpartition(".")
    own = HOUSE / (module.removeprefix("coeval.").replace(".", "/") + ".py")
    callers = {path.relative_to(HOUSE).as_posix() for path in HOUSE.rglob("*.py") if name in names_in(path)}
    assert callers == {own.relative_to(HOUSE).as_posix(), *ELSEWHERE[key].split()}


@cache
def names_in(path: Path) -> frozenset[str]:
    """Every name that a file defines, imports or uses."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found |= {getattr(node, field, None) for field in ("id", "attr", "name")}
    return frozenset(name for name in found if isinstance(name, str))


@pytest.mark.parametrize("mount", [MAIN, SETUP])
@pytest.mark.parametrize("who", [who for who in WHO if who != "owner"])
def test_no_event_by_any_of_its_addresses_does_more(world: World, mount: str, who: str) -> None:
    """Every event as the page would send it, also by the addresses that our pages do not use."""
    page = world.open_page(who, mount)
    page.put({"task-picker": "demo"})
    assert len(page.config["dependencies"]) > 10
    for one in page.config["dependencies"]:
        body = {"data": page.data_of(one), "fn_index": one["id"], "session_hash": page.session}
        for way in ("run/predict", f"run/{one['api_name']}", f"api/{one['api_name']}"):
            ask(page.browser, "POST", f"{mount}/gradio_api/{way}", json=body)
        page.run(one)
    let_in = {key for key in world.entered if not may(key, who)}
    assert not let_in
    if who in ("guest", "nobody"):
        assert not world.entered and not world.has_changed()


@pytest.mark.filterwarnings("error:A function")  # Gradio's complaint about a count of values
def test_no_event_of_set_up_breaks_on_fields_that_nobody_touched(world: World) -> None:
    """A program sends null where a page would send an empty text."""
    config = world.open_page("owner", SETUP).config
    for one in config["dependencies"]:
        for task in ("joined", None):
            page = world.open_page("owner", SETUP)
            page.put({"task-picker": task})
            answer = page.run(one)
            assert not answer.broken, (one["api_name"], one["targets"], task, answer)
            world.restore()
