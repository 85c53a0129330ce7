"""The Scrutiny tab: the workbench, which fetches and saves through ``ui/study_app/scrutiny/api.py``."""

from __future__ import annotations

from coeval.domain import Person
from coeval.language import get_spoken, later
from coeval.ui.components.screen import Screen
from coeval.ui.panel import StudyTab


class ScrutinyTab(StudyTab):
    """The workbench of the task, for whoever is signed in."""

    title, id = later("Scrutiny"), "scrutiny"
    at_start = True

    def build(self) -> None:
        self.outputs = [Screen(screen="scrutiny", elem_id="workbench")]

    def load(self, person: Person, slug: str) -> dict[str, str] | None:
        return {"task": slug, "person": str(person.id), "language": get_spoken().code} if slug else None
