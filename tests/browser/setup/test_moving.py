"""A study goes from one server to another by Set-up, in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from coeval.extensions.study_files.transfer import Naming, export_study_file
from coeval.settings import load_settings
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.study_import import import_study
from coeval.usecases.tasks import list_tasks
from tests.support.screens.ui_steps import enter, unfold
from tests.support.serving.server import Running
from tests.support.studies.scored_study import scored

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def server(context: Context) -> Iterator[Running]:
    import_study(context, OPERATOR, scored(["Ana"], n_documents=1))
    with Running(context) as running:
        yield running


def pack_elsewhere(folder: Path, slug: str, names: list[str]) -> Path:
    """The file of the same study with other people's work, from another database."""
    context = Context(Store(folder / f"{slug}.db"), load_settings({}, db=folder / f"{slug}.db"))
    study = scored(names, n_documents=1)
    import_study(context, OPERATOR, replace(study, task=replace(study.task, slug=slug)))
    path = folder / f"{slug}.zip"
    export_study_file(context, OPERATOR, slug, path, people=Naming.NAMES)
    return path


def give(page: Page, path: Path, button: str) -> None:
    clear = page.locator("#study-file button[aria-label='Clear']")
    if clear.count():
        clear.click()
    page.locator("#study-file input[type=file]").set_input_files(path)
    page.locator(f"#study-file a[download='{path.name}']").wait_for()
    page.get_by_role("button", name=button).click()


def test_a_study_leaves_and_comes(server: Running, context: Context, page: Page, tmp_path: Path) -> None:
    enter(page, server.url, "Olu")
    page.goto(f"{server.url}/admin/?task=demo&tab=hosting")
    unfold(page, "Move a study")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the study, with names").click()
    whole = tmp_path / "left.zip"
    download.value.save_as(whole)
    assert download.value.suggested_filename == "demo-study.zip"
    with page.expect_download() as download:
        page.get_by_role("link", name="Download it with pseudonyms").click()
    assert b"Ana" not in Path(download.value.path()).read_bytes()

    note = page.locator("#study-note")
    give(page, whole, "Import as a new task")
    note.get_by_text("The task “demo” already exists").wait_for()

    give(page, pack_elsewhere(tmp_path, "other", ["Cy"]), "Import as a new task")
    note.get_by_text("other: 2 instances, 4 drafts, 4 submissions, 1 new people").wait_for()
    assert [task.slug for task in list_tasks(context, OPERATOR)] == ["demo", "other"]
