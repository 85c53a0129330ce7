"""How many files a value passes: ``python -m tests.benchmarks journeys``.

Four journeys are made once to warm up and once more while a profiler watches: a score from the key press to its row,
the row to ``scores.csv``, a draft from the command to its row, and alpha from the click to its number.

Two counts are printed. "On the way" are the files of `coeval/` with a function that was given the value or gave it
back, or that stood on the call stack when the value was stored or computed: a reader opens these. "Ran" are the files
with any function that ran. Scripts count as on the way if they stood on the call stack when the browser read the value
from its field, or when the page put it into an object, kept it, or sent it.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import fields, is_dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

from coeval.cli.commands import main as coeval
from coeval.settings import load_settings
from coeval.stats.agreement import alpha
from coeval.store import Store
from coeval.ui.app.agreement.sections import get_pages
from coeval.usecases.access import Context
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.models.openai_stub import start_stub
from tests.support.screens.browser import CHROMIUM_ARGS, HOW_TO_GET_IT, find_chromium
from tests.support.screens.ui_steps import press
from tests.support.serving.server import Running
from tests.support.studies.scored_study import scored

ROOT = Path(__file__).resolve().parents[2] / "coeval"
GOALS = {"key press to row": 12, "row to CSV": 3, "command to draft": 14, "click to alpha": 9}
CANARY = "A heron stands in the reeds."
DEEP = 5
WATCH_SCRIPTS = """
window.__stacks = []
const seen = (value) => {
  if (typeof value === 'string' && value.includes(CANARY)) window.__stacks.push(new Error().stack)
  return value
}
Error.stackTraceLimit = 100
const field = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')
Object.defineProperty(HTMLTextAreaElement.prototype, 'value', {
  ...field, get() { return seen(field.get.call(this)) },
})
const stringify = JSON.stringify
JSON.stringify = (...given) => seen(stringify(...given))
for (const [owner, name] of [[Storage.prototype, 'setItem'], [window, 'fetch']]) {
  const real = owner[name]
  owner[name] = function (...given) {
    given.forEach((one) => seen(one?.body ?? one))
    return real.apply(this, given)
  }
}
""".replace("CANARY", repr(CANARY))


class Watch:
    """What ran, and what held a value, while the profiler was on."""

    def __init__(self, carries: Callable[[Any], bool], marks: Sequence[str] = ()) -> None:
        self.ran: set[str] = set()
        self.passed: set[str] = set()
        self._carries, self._marks = carries, marks

    def __call__(self, frame: Any, event: str, value: Any) -> None:
        if event not in ("call", "return") or not frame.f_code.co_filename.startswith(str(ROOT)):
            return
        name = frame.f_code.co_filename
        if event == "call":
            self.ran.add(name)
            if frame.f_code.co_name in self._marks:
                self.passed |= set(stack_of(frame))
            given = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
            held = any(holds(frame.f_locals.get(one), self._carries) for one in given)
        else:
            held = holds(value, self._carries)
        if held:
            self.passed.add(name)


def stack_of(frame: Any) -> Iterator[str]:
    while frame is not None:
        if frame.f_code.co_filename.startswith(str(ROOT)):
            yield frame.f_code.co_filename
        frame = frame.f_back


def holds(value: Any, carries: Callable[[Any], bool], depth: int = DEEP) -> bool:
    """Whether the value is in there, however it is wrapped."""
    if value is None or isinstance(value, type):
        return False
    if carries(value):
        return True
    if depth == 0:
        return False
    if isinstance(value, dict):
        return any(holds(one, carries, depth - 1) for one in list(value.values())[:50])
    if isinstance(value, list | tuple | set | frozenset):
        return any(holds(one, carries, depth - 1) for one in list(value)[:50])
    if is_dataclass(value) or hasattr(type(value), "model_fields"):
        names = [one.name for one in fields(value)] if is_dataclass(value) else list(type(value).model_fields)
        return any(holds(getattr(value, name, None), carries, depth - 1) for name in names)
    return False


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def has_canary(value: Any) -> bool:
    return isinstance(value, str | bytes) and (
        CANARY in value if isinstance(value, str) else CANARY.encode() in value
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print the counts and the files; the exit code says whether all goals were met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks journeys", description=__doc__)
    parser.add_argument("--files", action="store_true", help="list the files on the way")
    options = parser.parse_args(argv)
    if find_chromium() is None:
        print(HOW_TO_GET_IT, file=sys.stderr)
        return 2
    met = True
    print(f"{'journey':<20} {'on the way':>10} {'goal':>5} {'ran':>5}")
    with tempfile.TemporaryDirectory() as folder:
        for name, (passed, ran) in journeys(Path(folder)):
            met &= len(passed) <= GOALS[name]
            print(f"{name:<20} {len(passed):>10} {GOALS[name]:>5} {len(ran):>5}", flush=True)
            if options.files:
                print("".join(f"    {Path(one).relative_to(ROOT)}\n" for one in sorted(passed)), end="")
    return 0 if met else 1


def journeys(folder: Path) -> Iterator[tuple[str, tuple[set[str], set[str]]]]:
    yield "key press to row", save_by_keys(folder)
    watch = Watch(has_canary)
    export = ["export", "--task", "demo", "--out", str(folder / "out"), "--db", str(folder / "keys.db")]
    yield "row to CSV", run(watch, lambda: coeval(export))
    yield "command to draft", draft(folder / "draft.db")
    yield "click to alpha", compute_alpha(folder / "alpha.db")


def run(watch: Watch, act: Callable[[], object]) -> tuple[set[str], set[str]]:
    """Act twice, the second time watched."""
    with redirect_stdout(StringIO()):
        act()
        with watching(watch):
            act()
    return watch.passed, watch.ran


def save_by_keys(folder: Path) -> tuple[set[str], set[str]]:
    """Revise a line in the browser, and follow its new text to the database."""
    from playwright.sync_api import sync_playwright

    db = folder / "keys.db"
    context = Context(Store(db), load_settings({}, db=db))
    import_study(context, sign_in(context, "Olu")[0], make_study(4))
    watch = Watch(has_canary, ("record_submission",))
    threading.setprofile(watch)
    with Running(context) as server, sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGS)
        page = chromium.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.add_init_script(WATCH_SCRIPTS)
        # a reader opens the scripts that the bundle is made of
        page.route(
            "**/ui/bundle/main.js*",
            lambda route: route.fulfill(body="import '../main.js'", content_type="text/javascript"),
        )
        page.goto(server.url)
        page.get_by_label("Your name").fill("Ana")
        page.keyboard.press("Enter")
        page.locator("#me").get_by_text("Ana").wait_for()
        page.get_by_role("tab", name="Scrutiny").click()
        page.locator(".wb[data-state=step] .rt-row").first.wait_for()
        held: list[Any] = []
        page.route("**/submissions", lambda route: held.append(route))
        devtools = page.context.new_cdp_session(page)
        for turn in range(2):
            if turn:
                watch.ran.clear()
                watch.passed.clear()
                page.evaluate("window.__stacks.length = 0")
                devtools.send("Profiler.enable")
                devtools.send("Profiler.startPreciseCoverage", {"callCount": True, "detailed": False})
            press(page, "r", "Control+A")
            page.keyboard.type(CANARY)
            press(page, "Tab")
            page.keyboard.type("It says otherwise.")
            press(page, "Enter", "3", "a", "a")
            page.keyboard.press("Control+Enter")
            while not held:
                page.wait_for_timeout(20)
            if turn:
                # what the scripts do with the answer is another journey
                taken = devtools.send("Profiler.takePreciseCoverage")["result"]
                stacks = "\n".join(page.evaluate("window.__stacks"))
            with page.expect_response("**/submissions"):
                held.pop().continue_()
        chromium.close()
    threading.setprofile(None)  # type: ignore[arg-type]
    ran = {
        file_of(entry["url"])
        for entry in taken
        if "/ui/" in entry["url"] and any(one["ranges"][0]["count"] for one in entry["functions"])
    }
    passed = {file_of(url) for url in re.findall(r"https?://[^\s:]+:\d+/ui/[^\s:?]+", stacks)}
    return watch.passed | passed, watch.ran | ran


def file_of(url: str) -> str:
    return str(ROOT / "ui" / "static" / url.partition("/ui/")[2].partition("?")[0])


def draft(db: Path) -> tuple[set[str], set[str]]:
    """Draft evaluations by the command; the conclusion is followed from the answer to its row."""
    context = Context(Store(db), load_settings({}, db=db))
    import_study(context, sign_in(context, "Olu")[0], replace(make_study(1), runs=()))
    context.store.close()
    answer = f'{{"conclusion": "{CANARY}", "score": 4, "evidence": []}}'
    watch = Watch(has_canary, ("record_draft",))
    with start_stub(lambda body: answer) as stub:
        command = ["draft", "evaluations", "--task", "demo", "--db", str(db), "--model", "stub"]
        os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"] = stub.url, "no-key"
        labels = iter(("first", "second"))
        return run(watch, lambda: coeval([*command, "--label", next(labels)]))


def compute_alpha(db: Path) -> tuple[set[str], set[str]]:
    """Open the Agreement tab; alpha is followed from where it is computed to the tile that shows it."""
    context = Context(Store(db), load_settings({}, db=db))
    owner = sign_in(context, "Olu")[0]
    import_study(context, owner, scored(["Ann", "Ben", "Cid"]))
    shown: list[float] = []

    def look() -> None:
        *_, page = get_pages(context, owner, "demo", "agreement")
        shown.append(page.figures[0].data["value"][0])
        with context.store.write() as db:
            db.conn.execute("UPDATE task SET name = name || '!'")

    look()
    watch = Watch(
        lambda value: isinstance(value, float) and value == shown[0], (alpha.__name__.split(".")[-1],)
    )
    return run(watch, look)
