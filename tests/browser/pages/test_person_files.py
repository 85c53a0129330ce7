"""The Agreement tab in Chromium: an owner downloads a file for each person."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coeval.domain import ImportedSubmission
from coeval.usecases.access import OPERATOR
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.screens.browser import HOW_TO_GET_IT
from tests.support.screens.ui_steps import enter
from tests.support.serving.server import Running, new_context

pytest.importorskip("playwright.sync_api", reason=HOW_TO_GET_IT)


def test_a_file_for_each_person_is_downloaded(page: Any, tmp_path: Path) -> None:
    study = make_study()
    work = tuple(
        ImportedSubmission(who, one.external_id, "Be true.", score)
        for who, score in (("Ana", 4.0), ("Ben", 2.0))
        for one in study.instances
    )
    context = new_context(tmp_path)
    sign_in(context, "Owner")
    import_study(context, OPERATOR, replace(study, submissions=work))
    with Running(context) as live:
        enter(page, live.url, "Owner")
        page.goto(f"{live.url}/?task=demo&tab=agreement")
        page.get_by_text("Paper files and downloads").click()
        page.get_by_text("For other tools").click()
        with page.expect_download() as begun:
            page.get_by_role("link", name="A file for each person").click()
        with zipfile.ZipFile(begun.value.path()) as archive:
            files = {name: json.loads(archive.read(name)) for name in archive.namelist()}
    context.store.close()
    assert {name: list(people) for name, people in files.items()} == {
        "A01.json": ["Ana"],
        "A02.json": ["Ben"],
    }
    entries = files["A02.json"]["Ben"]
    assert {entry["criteria"]["Be true."]["final_score"] for entry in entries.values()} == {2.0}
