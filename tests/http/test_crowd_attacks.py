"""What strangers try over HTTP: coming as somebody else, a code for less work, an exam handed in twice at once."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest

from coeval.domain import Plan, Proof, Standing, Terms
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.crowd import exams, overview, plans
from tests.support.serving.server import Running
from tests.support.studies.crowd_links import import_one_criterion, query

TERMS = Terms(
    service="prolific",
    code_done="DONE1",
    code_part="PART1",
    code_declined="NO1",
    code_full="FULL1",
    proof=Proof.LINK,
)


def confirm(step: dict[str, Any], score: int) -> dict[str, Any]:
    """The body of a confirm that approves every line, with this score."""
    evaluation = step["evaluation"]
    first = evaluation["asks_first"]
    rows = [
        {"id": row["id"], "action": "approve"}
        for row in evaluation["rows"]
        if row["kind"] != "score" and row["id"] and not first
    ]
    return {
        "uid": str(uuid.uuid4()), "instance": step["instance"]["id"], "criterion": step["criterion"],
        "draft": evaluation["draft"], "revision": evaluation["revision"], "score": score, "rows": rows, "added": [],
        **({"first": True} if first else {}),
    }  # fmt: skip


def hidden_of(page: str) -> Iterator[tuple[str, str]]:
    """The hidden fields of a page's first form."""
    form = page.partition("<form")[2].partition("</form>")[0]
    for part in form.split('<input type="hidden" name="')[1:]:
        name, _, rest = part.partition('" value="')
        yield name, rest.partition('"')[0]


class Host:
    """A server with studies of one criterion; every test has its own."""

    def __init__(self, context: Context, server: Running) -> None:
        self.context, self.server = context, server

    def open_study(self, slug: str, plan: Plan, n_documents: int = 10, exam: str = "") -> None:
        import_one_criterion(self.context, slug, n_documents)
        if not exam:
            plans.set_plan(self.context, OPERATOR, slug, replace(plan, terms=plan.terms))

    def address(self, slug: str, number: int, session: str = "") -> dict[str, str]:
        key = plans.get_link(self.context, OPERATOR, slug)
        return {**query(self.count(slug, number), session=session or f"a{number}"), "key": key}

    def count(self, slug: str, number: int) -> int:
        """A number of the person's own: who was in one study of a server is known in the others."""
        return int.from_bytes(slug.encode()[-6:], "big") * 100 + number

    def pid(self, slug: str, number: int) -> str:
        return query(self.count(slug, number))["PROLIFIC_PID"]

    def rows(self, slug: str) -> tuple[overview.Row, ...]:
        return overview.get_overview(self.context, OPERATOR, slug).people


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    path = tmp_path_factory.mktemp("attacks") / "coeval.db"
    context = Context(Store(path), load_settings({}, db=path))
    with Running(context) as server:
        yield Host(context, server)


def join(host: Host, slug: str, number: int) -> tuple[httpx.Client, str]:
    """Somebody comes, agrees and begins; gives their browser and their return code."""
    browser = host.server.browser()
    page = browser.get(f"/s/{slug}", params=host.address(slug, number))
    joined = browser.post(f"/s/{slug}/consent", data=dict(hidden_of(page.text)))
    assert joined.status_code == 200, joined.text
    browser.post(f"/s/{slug}/begin")
    return browser, joined.text.partition('<p class="code">')[2].partition("</p>")[0]


def save(browser: httpx.Client, slug: str, n: int, score: int = 3) -> Any:
    """Confirm so many instances; gives the next step."""
    step = browser.post(f"/api/scrutiny/{slug}/step").json()
    for _ in range(n):
        answer = browser.post(f"/api/scrutiny/{slug}/submissions", json=confirm(step, score))
        assert answer.status_code == 200, answer.text
        step = browser.post(f"/api/scrutiny/{slug}/step").json()
    return step


def lapse(context: Context) -> None:
    with context.store.write() as db:
        old = "2020-01-01T00:00:00.000Z"
        db.conn.execute("UPDATE reservation SET reserved_until = ? WHERE outcome = ''", [old])
        db.conn.execute("UPDATE submission SET submitted_at = ?", [old])


def test_an_invented_study_earns_no_unseen_second_reward(host: Host) -> None:
    """An unsigned link proves no study either: whoever edits it comes from a study that nobody else came from."""
    slug = "twice"
    host.open_study(slug, Plan(per_instance=9, batch=2, quota=2, terms=TERMS))

    def come_again(browser: httpx.Client, number: int, study: str, session: str) -> None:
        sent = host.address(slug, number) | {"STUDY_ID": study, "SESSION_ID": session}
        page = browser.get(f"/s/{slug}", params=sent)
        assert browser.post(f"/s/{slug}/consent", data=dict(hidden_of(page.text))).status_code == 303

    browsers = {number: join(host, slug, number)[0] for number in (1, 2, 3)}
    for number, browser in browsers.items():
        save(browser, slug, 2)
        come_again(browser, number, "s2" if number < 3 else "invented", f"b{number}")
        save(browser, slug, 2)
    said = "look: came again from a study that nobody else came from"
    rows = host.rows(slug)
    assert [row.participant.study for row in rows if said in row.advice.evidence] == ["invented"]
    assert rows[-1].advice.suggestion == "look" and rows[-1].advice.code == "DONE1"


@pytest.mark.parametrize(("batch", "quota", "done"), [(5, 15, 1), (4, 12, 3), (3, 6, 5)])
def test_less_than_the_stated_work_is_no_full_code(host: Host, batch: int, quota: int, done: int) -> None:
    slug = f"half-{batch}-{quota}"
    host.open_study(slug, Plan(per_instance=5, batch=batch, quota=quota, terms=TERMS))
    browser, _ = join(host, slug, 1)
    save(browser, slug, done)
    lapse(host.context)
    join(host, slug, 2)[0].post(f"/api/scrutiny/{slug}/step")  # somebody else asks, and the time-out is noted
    page = browser.get(f"/s/{slug}").text
    assert "DONE1" not in page and "Finish here" in page
    (row, _) = host.rows(slug)
    assert row.advice.suggestion == "look" and f"{done} of the {quota} instances" in row.advice.evidence
    browser.post(f"/s/{slug}/end")
    page = browser.get(f"/s/{slug}").text
    assert "DONE1" not in page and "PART1" in page and f"for {quota} instances; you finished {done}" in page
    (row, _) = host.rows(slug)
    assert (row.advice.suggestion, row.advice.code) == ("look", "PART1")


def test_the_list_and_the_page_say_the_same_at_every_stage(host: Host) -> None:
    """Workers at every number of instances, with checks, warned in the last batch, withdrawn, and by two studies."""
    slug, quota = "agree", 4
    host.open_study(
        slug, Plan(per_instance=9, batch=2, quota=quota, terms=replace(TERMS, warn_after=1, block_after=9))
    )
    exams.set_keys(host.context, OPERATOR, slug, "instance,criterion,accepted\n1a,1,1\n")
    browsers = {}
    for number in range(1, 8):
        browser, code = join(host, slug, number)
        browsers[number] = browser
        for _ in range(min(number, quota)):
            step = browser.post(f"/api/scrutiny/{slug}/step")
            if step.status_code == 403:
                browser.post(f"/s/{slug}/go-on")
                step = browser.post(f"/api/scrutiny/{slug}/step")
            body = confirm(step.json(), 3)
            assert browser.post(f"/api/scrutiny/{slug}/submissions", json=body).status_code == 200
        if number == 5:  # stays at the warning, if there is one
            browser.post(f"/api/scrutiny/{slug}/step")
        if number == 6:
            browser.post(f"/api/scrutiny/{slug}/step")
            browser.post(f"/s/{slug}/go-on")
            browser.post(f"/api/scrutiny/{slug}/step")
            browser.post(f"/s/{slug}/withdraw", data={"code": code})
        if number == 7:
            browser.post(f"/api/scrutiny/{slug}/step")
            browser.post(f"/s/{slug}/go-on")
            browser.post(f"/api/scrutiny/{slug}/step")
            page = browser.get(
                f"/s/{slug}", params=host.address(slug, 7) | {"STUDY_ID": "s2", "SESSION_ID": "b7"}
            )
            browser.post(f"/s/{slug}/consent", data=dict(hidden_of(page.text)))
    newest = {row.participant.service_id: row for row in host.rows(slug)}
    for number, browser in browsers.items():
        row = newest[host.pid(slug, number)]
        page = browser.get(f"/s/{slug}").text
        shown = next((one for one in ("DONE1", "PART1", "NO1", "FULL1") if f">{one}<" in page), "")
        assert shown == row.advice.code, (number, row)
        assert (row.advice.suggestion == "wait") == (not shown), (number, row.advice)
    done = [row for row in host.rows(slug) if row.participant.left]
    assert [row.advice.code for row in done] == ["DONE1"] and done[0].advice.suggestion != "wait"
    # the quota and the list count the same: checks are part of both
    assert {newest[host.pid(slug, n)].participant.finished for n in (4, 5)} == {quota}


def test_two_hand_ins_at_once_use_one_attempt(host: Host) -> None:
    host.open_study("quiz", Plan(), n_documents=1, exam="yes")
    keys = "instance,criterion,accepted\n1a,1,1\n1b,1,1\n"
    exams.set_keys(host.context, OPERATOR, "quiz", keys)
    host.open_study("examined", Plan(terms=TERMS))
    plans.set_plan(host.context, OPERATOR, "examined", Plan(terms=replace(TERMS, max_tries=2)), exam="quiz")
    browser, _ = join(host, "examined", 1)
    save(browser, "quiz", 2, score=4)
    page = browser.get("/s/examined").text
    form = dict(hidden_of(page))
    assert form == {"attempt": "1"}
    with ThreadPoolExecutor(4) as pool:
        sent = list(pool.map(lambda _: browser.post("/s/examined/hand-in", data=form), range(4)))
    assert {answer.status_code for answer in sent} == {303}
    page = browser.get("/s/examined").text
    assert "You have 1 try" in page
    (row,) = host.rows("examined")
    assert row.state is Standing.EXAM
    # a form without a number, or of a try that is not due, is told to load the page again
    for number in ({}, {"attempt": "3"}):
        assert "reload it" in browser.post("/s/examined/hand-in", data=number).text
