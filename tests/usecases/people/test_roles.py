"""Who may do what: the help's table is the code's, every use case keeps to it, and so does every route."""

from __future__ import annotations

import inspect
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.routing import Mount, Route

from coeval.domain import Person, Plan, Role, Terms
from coeval.errors import NotAllowedError
from coeval.settings import load_settings
from coeval.store import Store
from coeval.store.queries import people as accounts
from coeval.ui.run import build_app
from coeval.ui.server.identity import COOKIE
from coeval.ui.server.plain_pages import HELP
from coeval.usecases.access import EVERYONE, GUESTS_MAY, Context
from coeval.usecases.crowd import entry, onboarding, plans
from coeval.usecases.sessions import set_role, sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.serving.http_world import load_rules
from tests.support.serving.server import Running
from tests.support.studies.crowd_links import link, pid

WHO = ("owner", "researcher", "annotator", "guest", "nobody")


def add_people(context: Context, owner: Person) -> dict[str, Person]:
    """One of each kind; the guest was admitted to the study "crowd"."""
    study = make_study()
    import_study(context, owner, study)
    import_study(context, owner, replace(study, task=replace(study.task, slug="crowd")))
    plans.set_plan(context, owner, "crowd", Plan(terms=Terms(service="prolific", code_done="D")))
    researcher = sign_in(context, "Rae")[0]
    set_role(context, owner, "Rae", Role.RESEARCHER)
    guest, _ = entry.arrive(context, "crowd", link(1))
    onboarding.begin(context, guest, "crowd")
    return {
        "owner": owner,
        "researcher": Person(researcher.name, Role.RESEARCHER, researcher.id),
        "annotator": sign_in(context, "Ana")[0],
        "guest": guest,
    }


@pytest.fixture
def people(context: Context, owner: Person) -> dict[str, Person]:
    return add_people(context, owner)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Context, dict[str, Person]]:
    """A file for all that is refused: it stays as it is."""
    path = tmp_path_factory.mktemp("roles") / "coeval.db"
    context = Context(Store(path), load_settings({}, db=path))
    return context, add_people(context, sign_in(context, "Olu")[0])


def test_the_help_says_what_the_code_does() -> None:
    """Every use case is in one row of the table, with its people; the rest of the row is written by hand."""
    told: dict[str, str] = {}
    for line in (HELP / "roles.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and (names := re.findall(r"`(\w+)`", line)):
            assert not told.keys() & set(names), f"listed twice: {sorted(told.keys() & set(names))}"
            told |= dict.fromkeys(names, line.split(" | ")[1])
    wanted = {
        key.rpartition(".")[2]: "everybody"
        if rule.guests
        else ", ".join(f"{role}s" for role in reversed(EVERYONE) if role in rule.roles)
        for key, rule in load_rules().items()
    }
    assert told == wanted, "coeval/ui/help/roles.md lists each use case by name, with its people"


def call(context: Context, name: str, person: Person) -> None:
    """Call a use case with arguments that mean nothing: it has to refuse before it looks at them."""
    module, _, function = name.rpartition(".")
    use_case = getattr(sys.modules[module], function)
    wanted = list(inspect.signature(use_case).parameters.values())[2:]
    required = [p for p in wanted if p.default is p.empty]
    args = ["no-such-task" for p in required if p.kind is p.POSITIONAL_OR_KEYWORD]
    keywords = {p.name: "x" for p in required if p.kind is p.KEYWORD_ONLY}
    result = use_case(context, person, *args, **keywords)
    if inspect.iscoroutine(result):
        result.close()


@pytest.mark.parametrize("name", load_rules())
def test_every_use_case_refuses_whom_the_table_does_not_name(
    untouched: tuple[Context, dict[str, Person]], name: str
) -> None:
    context, people = untouched
    rule = load_rules()[name]
    with closing(sqlite3.connect(context.settings.db)) as other:
        # a number that every commit by anybody else changes
        before = other.execute("PRAGMA data_version").fetchone()
        for who, person in people.items():
            if (rule.guests if who == "guest" else person.role in rule.roles) or who == "owner":
                continue  # what the allowed can do is what the other tests are about
            with pytest.raises(NotAllowedError):
                call(context, name, person)
            assert other.execute("PRAGMA data_version").fetchone() == before, who


@pytest.mark.parametrize("name", sorted(GUESTS_MAY))
def test_guests_work_at_their_own_study_only(untouched: tuple[Context, dict[str, Person]], name: str) -> None:
    context, people = untouched
    with pytest.raises(NotAllowedError, match="not part of the study"):
        call(context, name, people["guest"])


# ---- over HTTP -----------------------------------------------------------------------------------------------

OPEN = dict.fromkeys(WHO, True)
TEAM = {"owner": True, "researcher": True, "annotator": False, "guest": False, "nobody": False}
OWNER = {"owner": True, "researcher": False, "annotator": False, "guest": False, "nobody": False}
MEMBERS = {"owner": True, "researcher": True, "annotator": True, "guest": False, "nobody": False}
SIGNED_IN = {"owner": True, "researcher": True, "annotator": True, "guest": True, "nobody": False}
GUESTS = {"owner": False, "researcher": False, "annotator": False, "guest": True, "nobody": False}

ROUTES: dict[str, dict[str, bool]] = {
    "GET /healthz": OPEN,
    "GET /readyz": OPEN,
    "GET /help/guide": OPEN,
    "GET /signin": OPEN,
    "POST /signin": OPEN,
    "POST /signout": OPEN,
    "POST /signout/everywhere": SIGNED_IN,
    "GET /api/shipped": SIGNED_IN,
    "GET /s/": OPEN,
    "GET /s/crowd": OPEN,
    "POST /s/crowd/consent": GUESTS | {"nobody": True},  # who is of the team would lose their session
    "POST /s/crowd/ask": GUESTS | {"nobody": True},  # for whom a study knows: each came above
    "POST /s/crowd/decline": OPEN,
    "POST /s/crowd/begin": GUESTS | {"guest": False},  # the guest has begun already
    "POST /s/crowd/go-on": GUESTS | {"guest": False},
    "POST /s/crowd/hand-in": GUESTS | {"guest": False},
    "POST /s/crowd/end": GUESTS | {"guest": False},  # there is work to do
    "GET /s/crowd/work": SIGNED_IN,
    "GET /s/crowd/participants.csv": OWNER,
    "GET /s/crowd/prolific.csv": OWNER,
    "GET /api/revision/demo": MEMBERS,
    "GET /api/criteria/demo/ballot": MEMBERS,
    "POST /api/criteria/demo/ballot": MEMBERS,
    "GET /api/criteria/demo/ballot/history": MEMBERS,
    "GET /api/criteria/demo/decisions": OWNER,
    "POST /api/criteria/demo/decisions": OWNER,
    "GET /download/demo/export.zip": TEAM,
    "GET /download/demo/outline.zip": OWNER,
    "GET /download/demo/paper-tables.zip": TEAM,
    "GET /download/demo/charts/agreement/alpha.csv": TEAM,
    "GET /download/demo/scores.csv": TEAM,
    "GET /download/demo/study.zip?people=names": OWNER,
    "GET /download/demo/judge/judge.json": OWNER,
    "GET /download/demo/judge/certificate.html": TEAM,
    "GET /download/demo/judge/certificate.json": TEAM,
    "POST /api/scrutiny/demo/step": MEMBERS,
    "POST /api/scrutiny/crowd/step": GUESTS | {"owner": True},
    "GET /api/scrutiny/demo/history?instance=1&criterion=1": MEMBERS,
    "POST /api/scrutiny/demo/submissions": MEMBERS,
    "POST /api/scrutiny/demo/sheets": MEMBERS,
    "POST /api/scrutiny/demo/marks": MEMBERS,
    "POST /api/scrutiny/demo/suggestions": MEMBERS,
    "POST /api/rubrics/demo/open": MEMBERS,
    "POST /api/rubrics/demo/sheets": MEMBERS,
    "GET /api/rubrics/demo/history?position=1": MEMBERS,
    "POST /api/spans/demo/sheet": MEMBERS,
    "POST /api/spans/demo/saves": MEMBERS,
    "GET /": MEMBERS,
    "GET /config": MEMBERS,
    "POST /gradio_api/queue/join": MEMBERS,
    "GET /admin/": OWNER,
    "GET /admin/config": OWNER,
    "POST /admin/gradio_api/queue/join": OWNER,
    "POST /admin/gradio_api/upload": OWNER,
    "POST /s/crowd/withdraw": GUESTS,
}
"""Every route of ours and the doors of Gradio's, with who is let through it."""

NO_VOTES = {"json": {"round": 1, "revision": 0, "rows": [], "added": []}}
EVALUATION = {
    "uid": "00000000-0000-0000-0000-000000000001", "instance": 1, "criterion": 1, "draft": 1, "revision": 0,
    "score": 3, "rows": [], "added": [],
}  # fmt: skip
BODIES: dict[str, dict[str, Any]] = {
    "POST /api/criteria/demo/ballot": NO_VOTES,
    "POST /api/criteria/demo/decisions": NO_VOTES,
    "POST /signin": {"data": {"name": "Zoe"}},
    "POST /api/scrutiny/demo/submissions": {"json": EVALUATION},
    "POST /api/scrutiny/demo/sheets": {"json": {"uid": EVALUATION["uid"], "evaluations": [EVALUATION]}},
    "POST /api/scrutiny/demo/marks": {"json": {"instance": 1, "flagged": True}},
    "POST /api/scrutiny/demo/suggestions": {"json": {"instance": 1, "text": "Be kind."}},
    "POST /api/rubrics/demo/sheets": {
        "json": {"uid": EVALUATION["uid"], "position": 1, "revision": 0, "run": None, "lines": []}
    },
    "POST /api/spans/demo/sheet": {"json": {}},
    "POST /api/spans/demo/saves": {"json": {
        "uid": EVALUATION["uid"], "instance": 1, "draft": None, "revision": 0, "rows": [],
    }},
}  # fmt: skip


def is_refused(name: str, answer: httpx.Response) -> bool:
    """Turned away: by a status, or to a page for those who have no business here."""
    if answer.status_code in (401, 403):
        return True
    away = answer.headers.get("location", "")
    # who signs out is led to the sign-in page too
    return not name.startswith("POST /signout") and (
        away == "/" or away.rstrip("/").endswith(("/signin", "/s"))
    )


def routes_of(app: Any, prefix: str = "") -> Iterator[str]:
    for route in app.routes:
        if isinstance(route, Route):
            yield from (
                f"{method} {prefix}{route.path}" for method in route.methods or () if method != "HEAD"
            )
        elif hasattr(route, "original_router"):
            yield from routes_of(route.original_router)
        else:
            assert isinstance(route, Mount)
            assert route.path in ("/ui", "/admin", "") or route.path.startswith("/ui/extensions/")


def test_every_route_is_in_the_table(context: Context) -> None:
    named = {
        name.partition("?")[0].replace("/crowd", "/{slug}").replace("/demo", "/{slug}") for name in ROUTES
    }
    named |= {
        "GET /help/{name}",
        "GET /download/{slug}/{name}",
        "GET /download/{slug}/as/{name}.zip",
        "GET /download/{slug}/charts/{section}/{name}.csv",
    }
    missing = set(routes_of(build_app(context))) - named
    assert not missing, f"say in ROUTES who may use {missing}"


@pytest.mark.slow
def test_every_route_lets_through_whom_the_table_names(context: Context, people: dict[str, Person]) -> None:
    with Running(context) as server:
        for name, allowed in ROUTES.items():
            method, path = name.split(" ")
            for who in WHO:
                browser = server.browser()
                if who != "nobody":
                    browser.cookies.set(COOKIE, session(context, people[who]))
                body = BODIES.get(
                    name, {"data": {"worker": pid(2 + WHO.index(who))}}
                )  # each a worker of their own
                answer = browser.request(method, path, **(body if method == "POST" else {}))
                assert is_refused(name, answer) is not allowed[who], (
                    name,
                    who,
                    answer.status_code,
                    answer.text[:200],
                )
                assert answer.status_code < 500, (name, who, answer.text[:200])


def session(context: Context, person: Person) -> str:
    from coeval.usecases.sessions import open_session

    with context.store.write() as db:
        return open_session(db, person)


@pytest.mark.slow
def test_others_work_is_out_of_reach_over_http(context: Context, people: dict[str, Person]) -> None:
    """What one person holds in a study, another can neither see nor save, nor with a session that has ended."""
    other, _ = entry.arrive(context, "crowd", link(9))
    onboarding.begin(context, other, "crowd")
    with context.store.write() as db:  # one place an instance, so that the two hold different ones
        db.conn.execute("UPDATE crowd SET per_instance = 1, batch = 2")
        assert accounts.is_guest(db, other.id)
    with Running(context) as server:
        mine, theirs = server.browser(), server.browser()
        mine.cookies.set(COOKIE, session(context, people["guest"]))
        theirs.cookies.set(COOKIE, session(context, other))
        my_step = mine.post("/api/scrutiny/crowd/step").json()
        their_step = theirs.post("/api/scrutiny/crowd/step").json()
        instance = my_step["instance"]["id"]
        assert instance != their_step["instance"]["id"]
        look = theirs.post("/api/scrutiny/crowd/step", params={"instance": instance})
        assert look.status_code == 404 and my_step["instance"]["output"] not in look.text
        body = BODIES["POST /api/scrutiny/demo/submissions"]["json"]
        body = body | {"instance": instance, "criterion": my_step["criterion"], "draft": None}
        assert theirs.post("/api/scrutiny/crowd/submissions", json=body).status_code == 404
        # by way of another task's address, and as a member of the team
        assert theirs.post("/api/scrutiny/demo/submissions", json=body).status_code == 403
        owner = server.browser()
        owner.cookies.set(COOKIE, session(context, people["owner"]))
        assert owner.post("/api/scrutiny/crowd/submissions", json=body).status_code == 404
        assert theirs.post("/signout/everywhere").status_code == 303
        assert theirs.post("/api/scrutiny/crowd/step").status_code == 401
    with context.store.read() as db:
        assert db.conn.execute("SELECT count(*) FROM submission").fetchone()[0] == 0
