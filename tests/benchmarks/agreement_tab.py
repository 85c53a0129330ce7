"""The Agreement tab on 100,000 scores, in Chromium: ``python -m tests.benchmarks agreement_tab``.

The real server runs in a process of its own on a file made here: four systems, five criteria, five annotators
with and without the draft in view, a model's draft of everything. The clock runs in the page, from the click to
the frame after the marks of a chart have been painted; a section is whole when it says so and every chart it
shows is drawn. Each section is timed twice: one after another, as a reader goes through them, and alone, after
a save has made everything the server knew out of date. Processor time is the server's.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from coeval.domain import (
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    Instance,
    Quote,
    RowKind,
    Run,
    Study,
    Task,
)
from coeval.settings import load_settings
from coeval.store import Store
from coeval.ui.app.agreement.sections import SECTIONS
from coeval.usecases.access import Context
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.benchmarks.saves import cpu_seconds
from tests.support.screens.browser import CHROMIUM_ARGS, HOW_TO_GET_IT
from tests.support.serving.live_server import LiveServer, start_server

GOAL_CHART, GOAL_SECTION = 1.0, 2.0
READ_SECONDS = 3.0
"""How long the person looks at the first page before going to the tab."""

SYSTEMS, CRITERIA, PEOPLE = 4, 5, 5
ARMS, SHARES = ("assisted", "blind", "first"), (0.6, 0.25, 0.15)
PLANTED = 0.05
"""Share of the assisted scores that were shown a wrong score."""

CLOCK = """([selector, section]) => {
  const painted = (card) => card.querySelector('svg.marks g.role-mark > *')
    && !card.querySelector('svg.marks[data-old]');
  document.querySelectorAll('#agreement-charts svg.marks').forEach((svg) => { svg.dataset.old = 'yes'; });
  window.took = { chart: null, whole: null };
  const start = performance.now();
  const since = () => (performance.now() - start) / 1000;
  const look = () => {
    const cards = [...document.querySelectorAll('#agreement-charts .chart')].filter((card) => card.querySelector('h4'));
    const tiles = document.querySelector(`#agreement-tiles [data-section="${section}"]`);
    if (tiles && took.chart === null && cards.some(painted)) took.chart = since();
    if (tiles?.dataset.whole === 'yes' && cards.every(painted)) { took.whole = since(); return; }
    requestAnimationFrame(look);
  };
  document.querySelector(selector).click();
  requestAnimationFrame(look);
}"""

Row = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the exit code says whether both goals were met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks agreement_tab", description=__doc__)
    parser.add_argument("--instances", type=int, default=4_000, help="each gives 25 scores")
    parser.add_argument("--pictures", type=Path, help="also save a picture of every section here")
    options = parser.parse_args(argv)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print(HOW_TO_GET_IT, file=sys.stderr)
        return 2
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        db = prepare(folder / "coeval.db", options.instances)
        server = start_server(db)
        stack.callback(server.stop)
        driver = stack.enter_context(sync_playwright())
        chromium = driver.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_ARGS)
        stack.callback(chromium.close)
        rows = measure(chromium, server, options.pictures)
    return report(rows)


def prepare(db: Path, instances: int) -> Path:
    started = time.perf_counter()
    context = Context(Store(db), load_settings({}, db=db))
    owner = sign_in(context, "Olu")[0]
    import_study(context, owner, make_study(instances))
    context.store.close()
    scores = add_scores(db)
    print(f"{scores:,} scores prepared in {time.perf_counter() - started:.0f} s", flush=True)
    return db


def make_study(instances: int) -> Study:
    """Instances by four systems, five criteria, and a draft of four lines for every evaluation."""
    chance = np.random.default_rng(7)
    made = tuple(
        Instance(f"x{n}", f"Question {n // SYSTEMS}?", f"The answer {n} in a line or two.", f"d{n // SYSTEMS}",
                 f"system {'abcd'[n % SYSTEMS]}")
        for n in range(instances)
    )  # fmt: skip
    criteria = tuple(
        Criterion(f"The answer is good in the way that criterion {k} says.") for k in range(CRITERIA)
    )
    levels = chance.normal(3.2 + np.arange(instances) % SYSTEMS / 4, 0.9)
    drafts = tuple(
        make_draft(
            one.external_id, criterion.text, float(np.clip(np.round(level + chance.normal(0, 0.7)), 1, 5))
        )
        for one, level in zip(made, levels, strict=True)
        for criterion in criteria
    )
    run = ImportedRun(Run("imported", "test-model", "first", shown=True), drafts)
    return Study(Task("demo", "A task"), made, criteria, (run,))


def make_draft(instance: str, criterion: str, score: float) -> ImportedDraft:
    rows = (
        EvaluationRow(RowKind.CONCLUSION, "It does, for the most part."),
        EvaluationRow(RowKind.SCORE, f"{score:g}"),
        EvaluationRow(RowKind.EVIDENCE, "“The answer” is plain.", (Quote("The answer", 0, 10),)),
        EvaluationRow(RowKind.EVIDENCE, "“no such words”", (Quote("no such words"),)),
    )
    return ImportedDraft(instance, criterion, score, rows)


def add_scores(path: Path) -> int:
    """Five people's work on everything, as if they had saved it; how many scores that are."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("BEGIN")
    drafts = np.array(db.execute("SELECT id, instance, criterion, score FROM draft").fetchall())
    for number in range(PEOPLE):
        who = db.execute(PERSON, [f"annotator {number + 1}"]).lastrowid
        columns = _work(drafts, np.random.default_rng(number), number)
        uids = [f"made-{number}-{k}" for k in range(len(drafts))]
        db.executemany(SUBMISSION, zip(uids, [who] * len(uids), *columns, strict=True))
    for sql in (FIRST_SCORES, LINES):
        db.execute(sql)
    db.execute("COMMIT")
    total = int(db.execute("SELECT count(*) FROM submission").fetchone()[0])
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return total


def _work(drafts: Any, chance: np.random.Generator, number: int) -> list[list[Any]]:
    """One person's submissions, column by column: scores near the draft's, nearer where it was in view."""
    n = len(drafts)
    arms = np.repeat(chance.choice(ARMS, size=n // CRITERIA, p=SHARES), CRITERIA)
    planted = (arms == "assisted") & (chance.random(n) < PLANTED)
    shown = np.where(planted, np.where(drafts[:, 3] > 3, drafts[:, 3] - 1, drafts[:, 3] + 1), drafts[:, 3])
    noise = chance.normal(0.1 * number - 0.2, 1, n) * np.where(arms == "blind", 1.1, 0.6)
    score = np.clip(np.round(shown + noise), 1, 5)
    seconds, start = chance.lognormal(3.5, 0.8, n).round(3), np.cumsum(chance.uniform(5, 90, n))
    opened = np.datetime64("2026-01-05T08:00:00.000") + (1000 * start).astype("timedelta64[ms]")
    done = opened + (1000 * seconds).astype("timedelta64[ms]")
    return [
        *drafts[:, :3].astype(int).T.tolist(),
        arms.tolist(),
        score.tolist(),
        [None if arm == "blind" else value for arm, value in zip(arms, shown.tolist(), strict=True)],
        ["score" if one else None for one in planted],
        *([f"{moment}Z" for moment in moments] for moments in (opened, done)),
        (800 * seconds).astype(int).tolist(),
    ]


PERSON = "INSERT INTO annotator (name, role, created_at) VALUES (?, 'annotator', '2026-01-05T07:00:00.000Z')"
SUBMISSION = """
INSERT INTO submission (uid, annotator, draft, instance, criterion, revision, arm, score, shown_score, planted,
  opened_at, submitted_at, active_ms) VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)
"""
FIRST_SCORES = """
INSERT INTO first_score (uid, annotator, instance, criterion, score, submitted_at)
SELECT 'first-' || uid, annotator, instance, criterion, max(1, min(5, score + id % 3 - 1)), opened_at
FROM submission WHERE arm = 'first'
"""
LINES = """
INSERT INTO submission_row (submission, position, draft_row, kind, action, reason, text)
SELECT s.id, r.position, r.id, r.kind, CASE (s.id + r.position) % 9 WHEN 0 THEN 'revise' WHEN 1 THEN 'delete'
  ELSE 'approve' END, '', '' FROM submission s JOIN draft_row r ON r.draft = s.draft WHERE s.arm <> 'blind'
"""
TOUCH = """
INSERT INTO submission (uid, annotator, instance, criterion, revision, draft, arm, score, shown_score, planted,
  opened_at, submitted_at, active_ms) SELECT 'again-' || id, annotator, instance, criterion, revision + 1, draft, arm,
  1 + score % 5, shown_score, planted, opened_at, submitted_at, active_ms FROM submission
  WHERE id = (SELECT max(id) FROM submission)
"""


def touch(path: Path) -> None:
    """One more save: what the server has computed is out of date."""
    db = sqlite3.connect(path)
    db.execute(TOUCH)
    db.commit()
    db.close()


def measure(chromium: Any, server: LiveServer, pictures: Path | None) -> list[Row]:
    """Every section in turn, on a server that has just started; again with nothing new; each alone, after a save."""
    page = open_page(chromium, server)
    rows = [timed(page, server, "#agreement-tab", "agreement", "first time")]
    for section in list(SECTIONS)[1:]:
        rows.append(timed(page, server, choice(section), section, "then"))
        if pictures:
            page.screenshot(path=pictures / f"{section}.png", full_page=True)
    rows.append(timed(page, server, choice("agreement"), "agreement", "again"))
    before = "agreement"
    for section in SECTIONS:
        if before == section:
            timed(page, server, choice("time"), "time", "")
        touch(server.db)
        rows.append(timed(page, server, choice(section), section, "alone, after a save"))
        before = section
    return rows


def choice(section: str) -> str:
    return f"#agreement-section input[value='{section}']"


def open_page(chromium: Any, server: LiveServer) -> Any:
    """The study's first page, signed in as the owner, some seconds after it came up."""
    page = chromium.new_context(viewport={"width": 1440, "height": 1000}).new_page()
    page.set_default_timeout(60_000)
    page.goto(server.url)
    page.get_by_label("Your name").fill("Olu")
    page.keyboard.press("Enter")
    page.locator("#me").get_by_text("Olu").wait_for()
    page.evaluate(
        "document.querySelectorAll('button[role=tab]')"
        ".forEach((tab) => { if (tab.textContent.trim() === 'Agreement') tab.id = 'agreement-tab'; })"
    )
    time.sleep(READ_SECONDS)
    return page


def timed(page: Any, server: LiveServer, selector: str, section: str, when: str) -> Row:
    """Click, and wait until the section is whole; seconds by the clock of the page."""
    before = cpu_seconds(server)
    page.evaluate(CLOCK, [selector, section])
    page.wait_for_function("() => window.took.whole !== null", timeout=60_000)
    found = page.evaluate("window.took")
    return {"section": section, "when": when, **found, "cpu": cpu_seconds(server) - before}


def report(rows: Sequence[Row]) -> int:
    print("| section | when | first chart | whole | server's processor |\n|---|---|---:|---:|---:|")
    for row in rows:
        chart = "none" if row["chart"] is None else f"{row['chart']:.2f} s"
        print(f"| {row['section']} | {row['when']} | {chart} | {row['whole']:.2f} s | {row['cpu']:.2f} s |")
    charts = [row["chart"] for row in rows if row["section"] == "agreement"]
    slowest = max(row["whole"] for row in rows)
    print(f"slowest first chart of the tab {max(charts):.2f} s (goal: under {GOAL_CHART:g})")
    print(f"slowest section {slowest:.2f} s (goal: under {GOAL_SECTION:g})")
    return 0 if max(charts) < GOAL_CHART and slowest < GOAL_SECTION else 1
