"""The scrutiny and ballot screens of the real app, each alone on a page that loads fast, with a study per test.

What goes wrong on the way is put in by the browser: a request is answered with an error, or its answer is lost.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute

from coeval.domain import (
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    Instance,
    Person,
    Quote,
    RowKind,
    Run,
    Study,
    Task,
)
from coeval.rules.arms import Design
from coeval.settings import load_settings
from coeval.store import Store
from coeval.ui.server.identity import COOKIE, get_person
from coeval.ui.server.plain_pages import render_tags
from coeval.usecases.access import Context
from coeval.usecases.scrutiny.design import set_design
from coeval.usecases.scrutiny.steps import Step, Where, get_step
from coeval.usecases.sessions import get_signed_in, sign_in
from coeval.usecases.study_import import import_study
from tests.support.serving.server import Running
from tests.support.studies.scrutiny_steps import save

OUTPUT = (
    "Smelly things in flowers and herbs can be extracted with alcohol. Then they can be condensed, then put in "
    "a bottle, then sprayed on girls and boys alike."
)
CRITERIA = [
    "Use simple and easy-to-understand language.",
    "Use examples or analogies that a five-year-old can relate to.",
    "Be factually correct.",
]
GUIDELINES = "# How to judge\n\nRead **everything** first.\n\n- be fair\n- be slow"
SCREEN_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>CoEval</title>
<link rel="stylesheet" href="../ui/css/coeval.css"><link rel="stylesheet" href="../ui/css/app.css">
<link rel="stylesheet" href="../ui/css/study.css">
<script type="module" src="../ui/main.js"></script>
{tags}
<body><h1 class="ce-sr">CoEval</h1><main id="place"></main><script type="module">
  /* stands in for Gradio: props with a value, watchers called on a push from the server, events that are counted */
  const props = {{ value: {value} }};
  const watchers = [];
  window.events = [];
  window.push = (value) => {{ props.value = value; watchers.forEach((run) => run()) }};
  const watch = (name, run) => watchers.push(run);
  coeval.screen({part}, document.getElementById('place'), props, watch, (name) => window.events.push(name));
</script></body></html>"""
REFUSALS = {401: "sign_in", 403: "not_allowed", 422: "input", 503: "storage"}
SAVES = ("/submissions", "/sheets", "/ballot", "/decisions")
Rows = tuple[EvaluationRow, ...]
Json = dict[str, Any]


def quote_in(text: str, output: str) -> Quote:
    """A quote with its code-point offsets in ``output``; without any where it does not stand there."""
    start = output.find(text)
    return Quote(text, start, start + len(text)) if start >= 0 else Quote(text)


def evidence(text: str, quote: str = "", output: str = OUTPUT) -> EvaluationRow:
    return EvaluationRow(RowKind.EVIDENCE, text, (quote_in(quote, output),) if quote else ())


def make_rows(output: str = OUTPUT) -> Rows:
    """Conclusion, score and three lines of evidence; the second quote is not in the output."""
    conclusion = "It does not satisfy the criterion: it uses words a child may not know."
    return (
        EvaluationRow(RowKind.CONCLUSION, conclusion),
        EvaluationRow(RowKind.SCORE, "4"),
        evidence("“condensed” is hard for a child.", "condensed", output),
        evidence("The use of “smelly thinks in flowers”.", "smelly thinks in flowers", output),
        evidence("However, it explains that scents come from flowers and herbs."),
    )


def make_instances(count: int, output: str = OUTPUT, **fields: Any) -> list[Instance]:
    return [
        Instance(f"x{n}", f"How is perfume number {n} created?", output, f"d{n}", **fields)
        for n in range(1, count + 1)
    ]


@dataclass
class Bench:
    """A study that is imported when its screen is first opened, and what the browser and the server say of it.

    ``fail`` is the status that the next requests are answered with; with ``drop`` a save is made and its answer lost.
    ``unscored`` is about the first criterion: a run without any readable draft is not shown.
    """

    server: Running
    context: Context
    slug: str
    instances: list[Instance] = field(default_factory=lambda: make_instances(3))
    criteria: list[str] = field(default_factory=lambda: CRITERIA[:2])
    rows: Callable[[Instance], Rows] = lambda instance: make_rows(instance.output)
    task: Task = field(default_factory=lambda: Task("", "Explain like I'm five", guidelines=GUIDELINES))
    design: Design = field(default_factory=Design)
    unscored: bool = False
    requests: list[Json] = field(default_factory=list)
    fail: int = 0
    drop: bool = False
    root: str = ""
    imported: bool = False
    watched: list[Any] = field(default_factory=list)

    # ---- the study ---------------------------------------------------------------------------------------

    def ensure_study(self) -> None:
        if self.imported:
            return
        self.imported = True
        drafts = tuple(
            self._draft(instance, criterion) for instance in self.instances for criterion in self.criteria
        )
        run = ImportedRun(Run("imported", "test-model", "first", shown=True), drafts)
        task = replace(self.task, slug=self.slug, input_field="Question", output_field="Answer")
        owner = self.person("Olu")
        criteria = tuple(Criterion(text) for text in self.criteria)
        import_study(self.context, owner, Study(task, tuple(self.instances), criteria, (run,)))
        set_design(self.context, owner, self.slug, self.design)

    def start_over(self) -> None:
        """Another study in place of this one, to be changed before it is opened."""
        self.slug, self.imported = f"{self.slug}-on", False

    def _draft(self, instance: Instance, criterion: str) -> ImportedDraft:
        rows = self.rows(instance)
        if not self.unscored or criterion != self.criteria[0]:
            return ImportedDraft(instance.external_id, criterion, 4.0, rows)
        told = tuple(row for row in rows if row.kind is not RowKind.SCORE)
        return ImportedDraft(instance.external_id, criterion, None, told, reason="It answered “no idea”.")

    def person(self, name: str = "Ana") -> Person:
        person = get_signed_in(self.context, sign_in(self.context, name)[1])
        assert person is not None
        return person

    def step(self, position: int = 1, name: str = "Ana") -> Step:
        """The first open evaluation of the instance at that place of the person's order."""
        self.ensure_study()
        return get_step(self.context, self.person(name), self.slug, Where(position=position))

    def save_elsewhere(self, score: float, position: int = 1) -> None:
        """Save as if from another device: every line approved, with this score."""
        save(self.context, self.person(), self.step(position), score)

    def saved(self) -> list[Json]:
        """Every submission as the file holds it."""
        sql = (
            "SELECT s.* FROM submission s JOIN instance i ON i.id = s.instance JOIN task t ON t.id = i.task"
            " WHERE t.slug = ? ORDER BY s.id"
        )
        with self.context.store.read() as db:
            return list(db.query(sql, [self.slug]))

    # ---- the browser -------------------------------------------------------------------------------------

    def sign_in(self, page: Any, name: str = "Ana") -> None:
        token = sign_in(self.context, name)[1]
        page.context.add_cookies([{"name": COOKIE, "value": token, "url": self.server.url}])

    def open_bench(self, page: Any, state: str = "step", name: str = "Ana") -> Any:
        """The scrutiny screen in ``page``, shown as far as a person would wait for it."""
        self.ensure_study()
        self.sign_in(page, name)
        self.watch(page)
        page.goto(f"{self.root}/bench/{self.slug}")
        page.locator(f".wb[data-state={state}][aria-busy=false]").wait_for()
        return page

    def open_table(self, page: Any, part: str = "ballot", name: str = "Ana") -> Any:
        """The ballot, the owner's decisions, or the screen of an extension, alone on a page."""
        self.sign_in(page, name)
        self.watch(page)
        page.goto(f"{self.root}/table/{self.slug}?part={part}")
        page.locator(".rt-row, .sp[data-state=work]").first.wait_for()
        return page

    def watch(self, page: Any) -> None:
        """Note what the page sends, and let go wrong what is to go wrong."""
        if page not in self.watched:
            page.route("**/api/**", self._on_request)
            self.watched.append(page)

    def _on_request(self, route: Any) -> None:
        saves = route.request.method == "POST" and route.request.url.endswith(SAVES)
        if saves:
            self.requests.append(route.request.post_data_json)
        if self.fail:
            kind, message = REFUSALS.get(self.fail, "server"), f"Refused with {self.fail}."
            route.fulfill(status=self.fail, body=json.dumps({"error": kind, "message": message}))
        elif self.drop and saves:
            route.fetch()
            route.fulfill(status=502, body="the line broke after the save")
        else:
            route.continue_()


def add_pages(app: FastAPI, context: Context) -> None:
    """The two screens on pages of their own, ahead of what the app answers by itself."""

    def show(request: Request, slug: str, part: str = "scrutiny") -> HTMLResponse:
        value = {"task": slug, "person": get_person(context, request).uid}
        tags = render_tags("../ui/")
        return HTMLResponse(SCREEN_PAGE.format(value=json.dumps(value), part=json.dumps(part), tags=tags))

    app.router.routes.insert(0, APIRoute("/bench/{slug}", show))
    app.router.routes.insert(0, APIRoute("/table/{slug}", show))


@pytest.fixture(scope="session")
def bench_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Context]]:
    path: Path = tmp_path_factory.mktemp("bench") / "coeval.db"
    context = Context(Store(path), load_settings({}, db=path))
    sign_in(context, "Olu")  # the first owns the studies
    with Running(context, add_pages) as server:
        yield server, context


NUMBERS = itertools.count(1)


@pytest.fixture
def bench(bench_server: tuple[Running, Context]) -> Bench:
    """A study of one's own in the running app."""
    server, context = bench_server
    return Bench(server, context, f"study-{next(NUMBERS)}", root=server.url)
