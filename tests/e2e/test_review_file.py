"""``coeval review FILE`` as people use it: one command, a link for each of two people, and their agreement."""

from __future__ import annotations

import csv
import re
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.domain import Person
from coeval.settings import SignIn, load_settings, on_this_machine
from coeval.store import Store
from coeval.ui.app.scrutiny_tab import ScrutinyTab
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports.statistics import get_report
from coeval.usecases.scrutiny.steps import get_step
from coeval.usecases.sessions import get_signed_in
from coeval.usecases.study_outlines import FileReview, open_review, split_criteria
from tests.http.test_cli import run
from tests.support.models.openai_stub import Reply, start_stub
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import settle
from tests.support.serving.live_server import LiveServer
from tests.support.serving.server import Running
from tests.support.studies.scrutiny_steps import save, walk

N = 24


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["input", "output", "document"])
        writer.writerows([f"Why {n}?", f"Because of {n}.", f"d{n}"] for n in range(N))
    return path


class ReviewServer(LiveServer):
    """The command with a file; the database is beside the file, not in an option."""

    def __init__(self, table: Path, *options: str, **env: str) -> None:
        words = ("-m", "coeval", "review", str(table), *options)
        super().__init__(table.with_name("answers.coeval.db"), command=words, **env)

    def list_options(self) -> list[str]:
        return ["--port", str(self.port)]

    @property
    def links(self) -> list[str]:
        return re.findall(r"http://\S+/open/\S+", self.log.read_text())


@pytest.fixture
def server(table: Path) -> Iterator[ReviewServer]:
    """The command with a file that has the headings of another program."""
    head, rest = table.read_text(encoding="utf-8").split("\n", 1)
    table.write_text(head.replace("input,output", "Question,Response") + "\n" + rest, encoding="utf-8")
    running = ReviewServer(table)
    yield running
    running.stop()


def status(url: str) -> tuple[int, str, str]:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return answer.status, answer.url, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.url, error.read().decode()


@pytest.mark.slow
def test_one_command_judges_without_a_sign_in_and_shows_nothing_without_a_link(
    page: Any, server: ReviewServer
) -> None:
    pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT)
    for path in ("/", "/signin", "/admin/", "/open/" + "x" * 43):
        code, _, text = status(server.url + path)
        assert code in (401, 410) and "Because of" not in text
    mine, theirs = server.links
    assert "127.0.0.1" in mine and mine != theirs
    assert "input: Question, output: Response" in server.log.read_text(), (
        "headings of other programs are read"
    )
    page.goto(mine)
    page.get_by_text("Because of").first.wait_for(timeout=30_000)
    # three actions to the first saved judgment: the link, a digit, and the confirm
    page.locator(".wb[data-state=step]").wait_for()
    page.keyboard.press("4")
    with page.expect_response(lambda answer: answer.url.endswith("/submissions")) as saving:
        page.keyboard.press("Control+Enter")
    assert saving.value.ok
    with sqlite3.connect(server.db) as db:
        (saved,) = db.execute(
            "SELECT p.name, s.score FROM submission s JOIN annotator p ON p.id = s.annotator"
        )
    assert saved == ("Reviewer 1", 4.0)


@pytest.fixture
def context(table: Path) -> Context:
    path = table.with_name("answers.coeval.db")
    return Context(Store(path), on_this_machine(load_settings({}, db=path)))


def score_all(context: Context, token: str, scores: dict[int, int]) -> None:
    """Give items their scores, by the number in their output."""
    person = get_signed_in(context, token)
    assert person is not None
    for step in walk(context, person, "answers"):
        assert step.instance
        number = int(re.findall(r"\d+", step.instance.output)[0])
        if number in scores:
            save(context, person, step, scores[number])


def test_a_second_person_is_blind_and_the_first_sees_alpha_from_20_items(
    page: Any, context: Context, table: Path
) -> None:
    pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT)
    review = open_review(context, OPERATOR, table, ["Clear"], {})
    mine, theirs = review.tokens.values()
    scores = {n: 1 + n % 5 for n in range(20)}
    score_all(context, mine, scores)
    score_all(context, theirs, {n: scores[n] for n in range(1, 20)})
    with Running(context) as server:
        page.goto(f"{server.url}/open/{mine}")
        page.get_by_text("Two people scored 19 items").wait_for(timeout=30_000)
        settle(page)
        score_all(context, theirs, {0: 5})  # the line follows without a reload
        told = page.locator("#review-progress")
        told.get_by_text("Two people scored 20 items").wait_for(timeout=30_000)
        assert re.search(r"alpha: \.\d\d \[\.\d+, (?:\.\d+|1\.00)\]", told.inner_text()), told.inner_text()
        assert "on this item: 1 and 5 for “Clear”" in told.inner_text()
        page.context.clear_cookies()
        page.goto(f"{server.url}/open/{theirs}")
        page.get_by_text("Because of").first.wait_for(timeout=30_000)
        assert (
            page.get_by_role("tab", name="Agreement").count() == 0
            or not page.get_by_role("tab", name="Agreement").is_visible()
        )
        assert not page.locator("#review-progress").inner_text().strip()
        assert "/admin" not in page.request.get(f"{server.url}/admin/").url


def test_the_line_and_the_agreement_tab_speak_with_one_voice(context: Context, table: Path) -> None:
    rows = [f"Why {n}?,Because of {n}.,d{n % 4}" for n in range(N)]
    table.write_text("\n".join(["input,output,document", *rows]), encoding="utf-8")
    review = open_review(context, OPERATOR, table, ["Clear"], {})
    for token in review.tokens.values():
        score_all(context, token, {n: 1 + n % 5 for n in range(N)})
    told = tell_progress(context, review)
    said = get_report(context, _person(context, review), "answers")["answer"]["sentence"]
    few = "The scores are of 4 documents; at least 10 are needed."
    assert "Two people scored 24 items" in told and few in told and few in said


def tell_progress(context: Context, review: FileReview) -> str:
    """What the line above the work says."""
    tab = ScrutinyTab.__new__(ScrutinyTab)
    tab.context, tab.progress = context, "progress"
    return str(tab.follow(_person(context, review), "answers"))


def _person(context: Context, review: FileReview) -> Person:
    person = get_signed_in(context, review.tokens["Reviewer 1"])
    assert person is not None
    return person


def test_a_file_opened_again_keeps_its_work_and_old_links_still_open_it(
    context: Context, table: Path
) -> None:
    first = open_review(context, OPERATOR, table, split_criteria("Clear; Right 0-1"), {})
    save(context, _person(context, first), get_step(context, _person(context, first), "answers"), 3)
    again: FileReview = open_review(context, OPERATOR, table, [], {})
    assert again.tokens != first.tokens and get_signed_in(context, first.tokens["Reviewer 2"])
    with context.store.read() as db:
        assert db.conn.execute("SELECT count(*) FROM submission").fetchone()[0] == 1
        scales = db.conn.execute("SELECT text, scale_min, scale_max FROM criterion ORDER BY id").fetchall()
    assert [tuple(row) for row in scales] == [("Clear", 1, 5), ("Right", 0, 1)]


def test_an_unusable_file_leaves_no_database(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("question,answer_of\n1,2\n", encoding="utf-8")
    assert "coeval: " in _refused(wrong)
    assert "There is no file" in _refused(tmp_path / "none.csv")
    assert not list(tmp_path.glob("*.db"))


def _refused(path: Path) -> str:
    from tests.http.test_cli import _call

    done = _call(["review", str(path)], {})
    assert done.returncode == 1
    return done.stderr


def test_the_environment_cannot_choose_links() -> None:
    with pytest.raises(Exception, match="set it to one of names, accounts, huggingface"):
        load_settings({"COEVAL_SIGN_IN": SignIn.LINKS})


@pytest.mark.slow
def test_a_judge_drafts_before_people_open_the_page(table: Path) -> None:
    with start_stub(lambda request: Reply("Score: 2")) as stub:
        running = ReviewServer(table, "--judge", "small", OPENAI_BASE_URL=stub.url)
        try:
            assert len(running.links) == 2
            drafted = run("check", db=Path(running.db)).stdout
        finally:
            running.stop()
    assert f"draft: {N}" in drafted


def test_a_file_too_small_for_the_line_names_the_place_of_its_scores(context: Context, table: Path) -> None:
    table.write_text("input,output\nWhy?,Because of 1.\nWhy?,Because of 2.\n", encoding="utf-8")
    review = open_review(context, OPERATOR, table, ["Clear"], {})
    assert "This file has 2 items; Agreement shows their scores." in tell_progress(context, review)
