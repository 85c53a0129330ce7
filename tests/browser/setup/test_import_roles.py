"""Set-up in Chromium: nobody sees a further column of a file until the owner says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from coeval.domain import ColumnRole, Instance, Study, Task
from coeval.store.queries import tasks
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import USUAL_DESCRIPTION, import_study
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running, new_context

expect = pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT).expect
pytestmark = [pytest.mark.browser, pytest.mark.slow]

FILE = """id,question,answer,model,ground_truth,notes
q1,Why is the sky blue?,It scatters light.,first,Rayleigh scattering,short
q1,Why is the sky blue?,,second,Rayleigh scattering,shorter
q2,Why is grass green?,Chlorophyll.,first,Chlorophyll,short
"""


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return new_context(tmp_path_factory.mktemp("roles"), demo=True)


@pytest.fixture(scope="module")
def server(context: Context) -> Iterator[Running]:
    given = Instance("1", "Why?", "So.", context={"notes": "long", "ground_truth": "x"})
    columns = {"notes": ColumnRole.SHOWN, "ground_truth": ColumnRole.PEOPLE}
    import_study(
        context, OPERATOR, Study(Task("known", "Known task", "Answer.", columns=columns), (given,), ())
    )
    with Running(context) as live:
        yield live


@pytest.fixture
def owner(page: Any, server: Running) -> Any:
    page.set_viewport_size({"width": 1280, "height": 720})
    enter(page, server.url, "Owner")
    return page


def choose_file(page: Any, server: Running, folder: Path, text: str, task: str = "demo") -> None:
    path = folder / "answers.csv"
    path.write_text(text, encoding="utf-8")
    page.goto(f"{server.url}/admin/?task={task}&tab=import")
    page.locator("#import-into").get_by_text("(the task chosen above)").wait_for()
    page.locator("#import-file input[type=file]").set_input_files(path)
    page.locator("#import-note").get_by_text("Check under Columns which column holds what").wait_for()


def role(page: Any, column: str, where: str = "import-roles") -> Any:
    asks = "Use of" if where == "import-roles" else "Who sees"
    return page.locator(f"#{where}").get_by_label(f"{asks} {column}", exact=True)


def roles(context: Context, slug: str) -> dict[str, ColumnRole]:
    with context.store.read() as db:
        task = tasks.get_task(db, slug)
        assert task is not None
        return dict(task.columns)


def test_further_columns_are_asked_about_and_one_click_shows_one(
    owner: Any, server: Running, context: Context, tmp_path: Path
) -> None:
    page = owner
    choose_file(page, server, tmp_path, FILE)
    page.locator("#import-into").get_by_text("A new task").click()
    listed = page.locator("#import-roles tbody tr")
    expect(listed).to_have_count(6)
    # the buttons are in view at once, and the bar stays in view
    button = page.get_by_role("button", name="Import", exact=True)
    expect(button).to_be_in_viewport(ratio=1)
    role(page, "notes").scroll_into_view_if_needed()
    expect(button).to_be_in_viewport(ratio=1)
    expect(page.locator("#brand")).to_be_in_viewport(ratio=1)
    # ids repeat for each system: they are proposed as source ids
    expect(page.locator("#import-note")).to_contain_text("“id” is read as the source id")
    expect(role(page, "id")).to_have_value("document")
    expect(listed.filter(has_text="q1").first.locator("option:checked")).to_have_text("Source id")
    expect(role(page, "ground_truth")).to_have_value("hidden")
    expect(role(page, "notes")).to_have_value("hidden")
    page.get_by_role("button", name="Show notes to judge and people").click()
    expect(role(page, "notes")).to_have_value("shown to judge and people")
    expect(role(page, "notes")).to_be_focused()
    role(page, "ground_truth").select_option("shown to people only")
    # what was chosen stays when a field is read from elsewhere; what is no field any more is listed, and hidden
    expect(role(page, "model")).to_have_value("system")
    role(page, "notes").select_option("System")
    expect(role(page, "model")).to_have_value("hidden")
    role(page, "notes").select_option("Shown to judge and people")
    expect(role(page, "notes")).to_have_value("shown to judge and people")
    name = page.locator("#import-name textarea, #import-name input").first
    expect(name).to_have_value("Answers")  # as the file
    expect(page.get_by_role("columnheader", name="For example")).to_be_visible()
    name.fill("Shown by choice")
    page.locator("#import-description textarea").fill("Answer a question of natural science.")
    button.click()
    page.locator("#import-note").get_by_text("say that empty outputs are answers too").wait_for()
    unfold(page)
    page.get_by_label("Keep rows with an empty output").check()
    button.click()
    page.locator("#import-note").get_by_text("added 3 instances").wait_for()
    assert roles(context, "shown-by-choice") == {
        "model": ColumnRole.HIDDEN,
        "ground_truth": ColumnRole.PEOPLE,
        "notes": ColumnRole.SHOWN,
    }
    assert "task=shown-by-choice" in page.url
    page.get_by_role("tab", name="Tasks", exact=True).click()
    described = page.locator("#task-description textarea, #task-description input").first
    expect(described).to_have_value("Answer a question of natural science.")
    expect(role(page, "notes", "columns-roles")).to_have_value("shown to judge and people")
    expect(page.get_by_role("columnheader", name="For example")).to_have_count(0)  # Tasks has no examples
    # a share without the draft means nothing where nobody sees a draft
    unfold(page, "Study design")
    page.locator("#design-blind input[type=number]").fill("20")
    page.get_by_role("button", name="Save design").click()
    page.locator("#design-state").get_by_text("This study has no drafts").wait_for()


def test_a_file_is_read_otherwise_by_one_menu_and_without_a_known_input_asks_for_it(
    owner: Any, server: Running, context: Context, tmp_path: Path
) -> None:
    page = owner
    page.set_viewport_size({"width": 1280, "height": 720})
    choose_file(page, server, tmp_path, "stem,answer\nWhy is it blue?,Short waves scatter.\n")
    page.locator("#import-into").get_by_text("A new task").click()
    note = page.locator("#import-note")
    expect(note).to_contain_text("No column was read as the input: choose one.")
    expect(role(page, "stem")).to_be_in_viewport(ratio=1)
    menu = page.get_by_label("Read as")
    expect(menu).to_have_value("CSV (comma, tab or semicolon) (detected)")
    menu.click()
    page.get_by_role("option", name="JSON Lines", exact=True).click()
    expect(note).to_contain_text("is not JSON")
    expect(page.get_by_role("button", name="Import", exact=True)).to_be_disabled()
    menu.click()
    page.get_by_role("option").first.click()
    expect(note).to_contain_text("No column was read as the input: choose one.")
    page.locator("#import-name textarea, #import-name input").first.fill("Asked for input")
    page.locator("#import-description textarea").fill("Answer.")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(note).to_contain_text("under Columns, choose the one that holds the input")
    role(page, "stem").select_option("Input")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(note).to_contain_text("added 1 instance")
    with context.store.read() as db:
        task = tasks.get_task(db, "asked-for-input")
        assert task is not None
        found = tasks.find_instance(db, task.id, "1")
    assert found is not None and found.input == "Why is it blue?"


def test_another_sheet_of_a_workbook_is_chosen(
    owner: Any, server: Running, context: Context, tmp_path: Path
) -> None:
    """Also if the first sheet is no table."""
    page = owner
    book = openpyxl.Workbook()
    book.active.title = "About"
    for name in ("Pilot", "Main"):
        for row in (("instance", "input", "output"), ("1", "Why?", f"From {name}.")):
            (book[name] if name in book.sheetnames else book.create_sheet(name)).append(row)
    book.save(tmp_path / "answers.xlsx")
    page.goto(f"{server.url}/admin/?task=demo&tab=import")
    page.locator("#import-into").get_by_text("(the task chosen above)").wait_for()
    expect(page.locator("#import-sheet")).to_be_hidden()
    page.locator("#import-file input[type=file]").set_input_files(tmp_path / "answers.xlsx")
    expect(page.locator("#import-sheet input")).to_have_value("About")
    page.locator("#import-note [role=alert]").get_by_text("answers.xlsx, sheet “About”: is empty").wait_for()
    expect(page.locator("#import-go")).to_be_disabled()
    for name in ("Pilot", "Main"):
        page.locator("#import-sheet input").click()
        page.get_by_role("option", name=name).click()
        page.locator("#import-preview").get_by_text(f"From {name}.").wait_for()
    page.locator("#import-name textarea, #import-name input").fill("From a sheet")
    page.locator("#import-description textarea").fill("Answer.")
    page.locator("#import-into").get_by_text("A new task").click()
    page.locator("#import-go").click()
    page.locator("#import-note").get_by_text("1 instance").first.wait_for()
    with context.store.read() as db:
        [(output,)] = db.conn.execute(
            "select output from instance where task = (select id from task where slug = 'from-a-sheet')"
        ).fetchall()
    assert output == "From Main."


def test_scores_of_people_are_preselected_and_nothing_else_is_required(
    owner: Any, server: Running, context: Context, tmp_path: Path
) -> None:
    page = owner
    rows = [f"Rain fell.,Rain.,a,{who},{scores}" for who, scores in (("p1", "4,5"), ("p2", "3,5"))]
    choose_file(
        page, server, tmp_path, "\n".join(["article,summary,model,rater,fluency,coherence", *rows]) + "\n"
    )
    page.locator("#import-into").get_by_text("A new task").click()
    note = page.locator("#import-note")
    expect(note).to_contain_text("Read as the scores of 2 people: fluency, coherence.")
    expect(role(page, "rater")).to_have_value("annotator")
    expect(role(page, "coherence")).to_have_value("scores")
    role(page, "coherence").select_option("Hidden")
    expect(role(page, "coherence")).to_have_value("hidden")
    role(page, "coherence").select_option("Score by the person")
    expect(role(page, "coherence")).to_have_value("scores")
    page.locator("#import-name textarea, #import-name input").first.fill("Read at once")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(note).to_contain_text("4 scores by 2 people")
    expect(note).to_contain_text("The systems' task was left empty")
    expect(note).not_to_contain_text("blind?")
    with context.store.read() as db:
        task = tasks.get_task(db, "read-at-once")
    assert task is not None and task.description == USUAL_DESCRIPTION
