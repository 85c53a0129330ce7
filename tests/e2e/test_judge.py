"""From a scrutinised study to a gate's exit code: split, learn, certify, take the judge away in Chromium, run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coeval.domain import JobState, Role
from coeval.extensions.judge.bridge.schema import Bridge
from coeval.extensions.judge.certificate.schema import Certificate
from coeval.extensions.judge.fit import fit_judge
from coeval.extensions.judge.model.judge_file import parse_judge
from coeval.extensions.judge.seal import seal_task
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.drafting.jobs import list_jobs
from coeval.usecases.sessions import set_role, sign_in
from coeval.usecases.study_import import import_study
from tests.support.screens.axe import faults
from tests.support.screens.ui_steps import enter, settle, unfold
from tests.support.serving.live_server import ROOT
from tests.support.serving.server import Running
from tests.support.studies.bridged_study import seal_bridged_study
from tests.support.studies.judged_study import OVERRATED, WORDING, serve_judged
from tests.support.studies.unsure_study import THRESHOLD, UNSURE_LINES, make_unsure_study

if TYPE_CHECKING:
    from playwright.sync_api import Page


@dataclass(frozen=True)
class Served:
    """Where the app is, and the environment in which a command finds the model."""

    url: str
    context: Context
    model: dict[str, str]


@pytest.fixture
def server(context: Context) -> Iterator[Served]:
    """A server of this walk's own: a task is sealed once, so that a walk tried again needs a fresh file."""
    for name in ("Olu", "Rae", "Ann"):
        sign_in(context, name)
    set_role(context, OPERATOR, "Rae", Role.RESEARCHER)
    with serve_judged(context) as (connected, stub), Running(connected) as live:
        yield Served(
            live.url, context, {"OPENAI_BASE_URL": stub.url, "OPENAI_API_KEY": connected.settings.api_key}
        )


def gate(judge: Path, worth: int, model: dict[str, str]) -> int:
    """The exit code for a new system whose outputs are worth so much, where the old ones are worth 3 to 4."""
    outputs = judge.parent / f"outputs-{worth}.jsonl"
    rows = [
        {"instance": f"{n}-{system}", "document": f"q{n}", "system": system, "input": f"Question {n}?",
         "output": f"Answer {n} by {system}, worth {score}."}
        for n in range(40) for system, score in (("new", worth), ("old", 3 + n % 2))
    ]  # fmt: skip
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = [
        sys.executable, "-m", "coeval", "judge", "gate", str(judge), "--input", str(outputs), "--system", "new",
        "--against", "old", "--min-n", "30", "--ledger", str(judge.parent / "ledger.db"),
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | model, capture_output=True, text=True, timeout=300
    )
    print(done.stdout, done.stderr)
    return done.returncode


def take_examples(context: Context, page: Page) -> None:
    """Look at what would be shown to the judge, and why; take all but one. The run with them is drafted."""
    unfold(page, "Examples from corrections")
    page.get_by_label("Examples per criterion").fill("2")
    page.get_by_role("button", name="Choose examples").click()
    shown = page.locator("#examples-shown section")
    shown.nth(3).wait_for()
    assert shown.count() == 4 and "The judge said " in shown.first.inner_text()
    page.get_by_role("checkbox", name="Example 4").uncheck()
    page.get_by_role("button", name="Draft a run with these").click()
    page.get_by_text("3 examples” is being drafted").wait_for()
    while (job := list_jobs(context, OPERATOR, "judged")[0]).state in (JobState.QUEUED, JobState.RUNNING):
        page.wait_for_timeout(200)
    assert job.state is JobState.DONE, job


def decide_wordings(page: Page) -> None:
    """Leave the first proposal, take the second: a vote is open then."""
    unfold(page, "Wording from corrections")
    page.locator("#wording-criterion input").click()
    page.get_by_role("option", name=OVERRATED).click()
    for decision, said in (
        ("Keep the criterion", "Rejected:"),
        ("Accept", "Accepted: the vote"),
    ):
        page.get_by_role("button", name="Propose a wording").click()
        page.locator("#wording-shown ins").first.wait_for()
        assert WORDING in page.locator("#wording-shown .wording").inner_text().replace("\n", "")
        page.get_by_role("button", name=decision, exact=True).click()
        page.get_by_text(said).wait_for()
        page.locator("#wording-shown ins").first.wait_for(state="hidden")


def test_from_a_scrutinised_study_to_the_exit_code_of_a_gate(
    server: Served, page: Page, tmp_path: Path
) -> None:
    page.set_default_timeout(60_000)
    enter(page, server.url, "Olu")
    page.goto(f"{server.url}/?task=judged&tab=judge")
    page.get_by_text("Not sealed yet: the task has 24 documents.").wait_for()
    assert page.get_by_text("Seal first.").is_visible() and not page.locator("#judge-learn").is_visible()

    page.get_by_role("button", name="Split and seal").click()
    page.get_by_text("About 50% of 24 documents will be sealed.").wait_for()
    page.get_by_role("button", name="Not yet").click()
    page.get_by_text("About 50% of 24 documents").wait_for(state="hidden")
    page.get_by_text("Not sealed yet: the task has 24 documents.").wait_for()
    page.get_by_role("button", name="Split and seal").click()
    page.get_by_role("button", name="Seal for good").click()
    page.get_by_text("12 documents to fit on and 12 sealed, a share of 50%").wait_for()
    page.locator("#judge-seal-go").wait_for(state="hidden")

    page.get_by_role("button", name="Learn and freeze").click()
    kept = page.locator("#judge-learned li")
    kept.filter(has_text=f"Calibration by “{OVERRATED}”").wait_for()
    assert kept.count() == 1
    assert "The seal has not been opened yet." in page.locator("#judge-openings").inner_text()
    take_examples(server.context, page)
    decide_wordings(page)

    page.get_by_role("button", name="Open the seal and certify").click()
    page.get_by_text("to open it now, type “opening 1”").wait_for()
    page.get_by_label("Confirmation text").fill("opening 1")
    page.get_by_role("button", name="Open the seal and certify").click()
    page.get_by_text("This is the first opening of the seal").wait_for()
    page.get_by_text("The seal was opened 1 time before.").wait_for()
    assert (
        "The judge is closer to people's scores than a constant"
        in page.locator("#judge-certificate").inner_text()
    )
    page.reload()  # the message of the refusal is gone then, which is not ours
    page.get_by_text("The seal was opened 1 time before.").wait_for()
    settle(page)
    assert not faults(page)

    with page.expect_popup() as opened:
        page.get_by_role("link", name="Read the certificate").click()
    certificate = opened.value
    certificate.get_by_role("heading", name="Limits of this certificate").wait_for()
    assert certificate.get_by_role("img", name="Calibration").is_visible()
    assert not faults(certificate)
    with page.expect_download() as as_json:
        page.get_by_role("link", name="as JSON").click()
    written = Certificate.model_validate_json(as_json.value.path().read_text("utf-8"))
    with page.expect_download() as taken:
        page.get_by_role("link", name="judge.json").click()
    assert taken.value.suggested_filename == "judge.json"
    file = parse_judge(taken.value.path().read_bytes())
    assert file.certificate and file.certificate["opening"] == 1 == written.opening
    assert file.fitted.calibration and set(file.fitted.calibration.maps) == {OVERRATED}

    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Open the seal and certify").scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"

    path = tmp_path / "judge.json"
    path.write_bytes(taken.value.path().read_bytes())
    assert [gate(path, worth, server.model) for worth in (4, 2)] == [0, 3], "no worse, and a regression"

    page.context.clear_cookies()
    enter(page, server.url, "Rae")
    page.goto(f"{server.url}/?task=judged&tab=judge")
    page.get_by_text("The seal was opened 1 time before.").wait_for()
    for button in ("#judge-seal-go", "#judge-learn", "#judge-certify"):
        assert not page.locator(button).is_visible(), button
    assert not page.get_by_role("link", name="judge.json").count()
    page.context.clear_cookies()
    enter(page, server.url, "Ann")
    page.goto(f"{server.url}/?task=judged&tab=judge")
    page.get_by_role("tab", name="Scrutiny").wait_for()
    page.get_by_role("tab", name="Judge").wait_for(state="hidden")
    assert not page.locator("#judge-steps").is_visible()


@pytest.fixture
def unsure(context: Context) -> Iterator[str]:
    """A judge whose scores were imported, learned, with a threshold."""
    for name in ("Olu", "Dee"):
        sign_in(context, name)
    import_study(context, OPERATOR, make_unsure_study())
    seal_task(context, OPERATOR, "demo")
    fit_judge(context, OPERATOR, "demo", wishes=THRESHOLD)
    with Running(context) as live:
        yield live.url


def test_the_team_is_asked_for_what_the_judge_leaves_to_people_and_an_imported_judge_is_taken_away(
    unsure: str, page: Page
) -> None:
    page.set_default_timeout(60_000)
    enter(page, unsure, "Olu")
    page.goto(f"{unsure}/?task=demo&tab=judge")
    page.get_by_text(f"nobody has scored {len(UNSURE_LINES)} of these").wait_for()
    page.get_by_text(f"The list: {len(UNSURE_LINES)} lines, the least sure first").click()
    assert page.locator("#judge-people tbody tr").count() == len(UNSURE_LINES)
    page.get_by_role("button", name="Assign these lines to the team").click()
    page.get_by_text(f"the team has only {len(UNSURE_LINES)} lines").wait_for()

    assert not page.get_by_role("link", name="judge.json", exact=True).count()
    page.get_by_label("Model of the judge").fill("other-model")
    link = page.locator("#supplied-link a[href*='model=other-model']")
    link.wait_for()
    with page.expect_download() as taken:
        link.click()
    (asking,) = parse_judge(taken.value.path().read_bytes()).judges
    assert asking.supplied and asking.model == "other-model" and asking.templates

    page.context.clear_cookies()
    enter(page, unsure, "Dee")
    page.goto(f"{unsure}/?task=demo&tab=scrutiny")
    page.get_by_text(f"of {len({name for name, _ in UNSURE_LINES})}", exact=True).first.wait_for()

    page.context.clear_cookies()
    enter(page, unsure, "Olu")
    page.goto(f"{unsure}/?task=demo&tab=judge")
    preset = page.locator("#supplied-preset input")
    own = preset.input_value()
    preset.click()
    page.get_by_role("option").nth(1).click()
    page.locator("#supplied-link a:not([href$='preset='])").wait_for()
    assert preset.input_value() != own
    page.get_by_role("tab", name="Criteria").click()
    page.get_by_role("tab", name="Judge").click()
    page.locator("#supplied-link a[href$='preset=']").wait_for()
    assert preset.input_value() == own, "the menu says another preset than the link"
    page.get_by_role("button", name="Assign all lines again").click()
    page.get_by_role("button", name="Assign all lines again").wait_for(state="hidden")
    page.get_by_role("button", name="Audit this judge").click()
    page.get_by_label("Outputs to label").wait_for()
    page.get_by_label("Outputs to label").fill("12")
    page.get_by_role("button", name="Let its probabilities decide whom to ask").click()
    page.get_by_text("12 outputs drawn: people get only these").wait_for()
    settle(page)
    assert not faults(page)


@pytest.fixture
def bridged(context: Context) -> Iterator[str]:
    """A study with two fitted judges, the older of which favours a system."""
    for name in ("Olu", "Rae"):
        sign_in(context, name)
    set_role(context, OPERATOR, "Rae", Role.RESEARCHER)
    seal_bridged_study(context)
    with Running(context) as live:
        yield live.url


def test_an_owner_bridges_two_judges_and_a_researcher_reads_what_flips(bridged: str, page: Page) -> None:
    page.set_default_timeout(60_000)
    enter(page, bridged, "Olu")
    page.goto(f"{bridged}/?task=demo&tab=judge")
    shown = page.locator("#judge-bridge")
    shown.get_by_text("There is no bridge yet.").wait_for()
    page.get_by_role("button", name="Audit this judge").click()
    first = page.locator("#judge-audited li").first
    first.get_by_text("outputs that people failed (below 3), it passed").wait_for()
    biases = page.locator("#judge-audited").get_by_role("table").first
    assert "not measured here, because its model compared fewer than 10 pairs" in biases.inner_text()
    assert (
        "Its cost is not recorded, because the run was imported"
        in page.locator("#judge-audited").inner_text()
    )
    assert not page.locator("#audit-draw").is_visible(), "this judge gives no probabilities"
    page.get_by_role("button", name="Build the bridge").click()
    shown.get_by_text("2 flip, and 1 cannot be told").first.wait_for()
    assert "people scored outputs of both judges" in shown.locator(".banner").inner_text()
    order = shown.get_by_role("table").nth(1)
    assert order.get_by_role("row").nth(1).get_by_text("flips").is_visible(), "flips come first"
    shown.get_by_text("Links and favoured systems").click()
    shown.get_by_text("Link of the old judge: isotonic regression").wait_for()
    settle(page)
    assert not faults(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    page.locator("#bridge-new input").click()
    page.get_by_role("option", name="old").click()
    page.get_by_role("button", name="Build the bridge").click()
    page.get_by_text("a bridge needs two different judges").first.wait_for()

    page.context.clear_cookies()
    enter(page, bridged, "Rae")
    page.goto(f"{bridged}/?task=demo&tab=judge")
    shown.get_by_text("2 flip, and 1 cannot be told").first.wait_for()
    assert not page.locator("#bridge-go").is_visible()
    with page.expect_download() as taken:
        shown.get_by_role("link", name="The bridge as JSON").click()
    bridge = Bridge.model_validate_json(taken.value.path().read_text("utf-8"))
    shown.get_by_text("Paragraph for a paper").click()
    assert shown.get_by_text(bridge.paragraph).is_visible()
