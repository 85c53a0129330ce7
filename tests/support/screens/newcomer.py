"""A newcomer with a CSV file: from the sign-in page of an empty file to the first saved judgment."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.export import export_table

FILE = """question,answer,model
Why is the sky blue?,Air scatters blue light most.,first
Why is grass green?,Chlorophyll reflects green light.,second
Why is the sea salty?,Rivers bring salt into it.,first
"""
DESCRIPTION = "Answer a question of natural science in one sentence."
CRITERIA = "The answer is right.\nThe answer is plain."
SLUG = "my-answers"
"""The short name that the file's name makes."""


class Newcomer:
    """Does what the page offers, one action after another, and notes each.

    An action is a text typed, a file chosen, a click or a key. Nothing is reloaded, and no address or short name is
    typed but that of the sign-in page.
    """

    def __init__(self, page: Any, url: str, folder: Path) -> None:
        self.page, self.url = page, url
        self.file = folder / "my_answers.csv"
        self.file.write_text(FILE, encoding="utf-8")
        self.actions: list[str] = []

    def start(self) -> None:
        """Open the address and sign in by name: a server without a study of one's own opens on Import."""
        self.page.goto(self.url)
        self._type("the name", self.page.get_by_label("Your name"), "Noor")
        self._press("Enter")

    def bring_data(self, texts: bool = True) -> None:
        """Import the file as a new task, with its description and criteria if ``texts``, and go on to judge it."""
        page = self.page
        page.locator("#import-description textarea").wait_for()
        page.locator("#import-file input[type=file]").set_input_files(self.file)
        self.actions.append("choose the file")
        page.locator("#import-note").get_by_text("3 rows").wait_for()
        if texts:
            self._type("the description", page.locator("#import-description textarea"), DESCRIPTION)
            self._type("the criteria", page.locator("#import-criteria textarea"), CRITERIA)
        self._click("Import and judge", page.get_by_role("button", name="Import and judge"))

    def judge(self) -> None:
        """Save one score."""
        page = self.page
        page.locator(".wb[data-state=step]").wait_for()
        self._press("4")
        self._press("Control+Enter")

    def wait_saved(self, context: Context) -> list[dict[str, str]]:
        """The rows of the export's scores, once there is one."""
        for _ in range(1500):
            if rows := _list_scores(context, SLUG):
                return rows
            self.page.wait_for_timeout(10)
        raise AssertionError("nothing was saved")

    def _type(self, what: str, box: Any, text: str) -> None:
        box.fill(text)
        self.actions.append(f"type {what}")

    def _press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.actions.append(f"press {key}")

    def _click(self, what: str, target: Any) -> None:
        target.click()
        self.actions.append(f"click {what}")


def _list_scores(context: Context, slug: str) -> list[dict[str, str]]:
    text = io.StringIO()
    export_table(context, OPERATOR, slug, "scores.csv", text)
    return list(csv.DictReader(io.StringIO(text.getvalue())))
