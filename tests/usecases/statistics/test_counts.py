"""The counts of a study's scores by arm: on every page, in JSON, in the methods and in the CSV they add up."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.cli.commands import main
from coeval.domain import Arm, ImportedDraft, ImportedRun, Person
from coeval.extensions.hub.content import write_content
from coeval.rules.arms import Design
from coeval.stats.report.agreement import arm_counts
from coeval.ui.app.agreement.assistance import build
from coeval.ui.components.view import Node
from coeval.usecases.access import Context
from coeval.usecases.reports.statistics import get_frames, get_paper_tables, get_statistic
from coeval.usecases.scrutiny.design import set_design
from coeval.usecases.scrutiny.review import compare_people, list_habits
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.conftest import make_study
from tests.support.studies.scrutiny_steps import save, walk
from tests.usecases.exported import read_export

PEOPLE = ("Ana", "Ben", "Cleo")


def fill(context: Context, owner: Person, seed: int) -> Counter[str]:
    """Save a random study, and return what was on the screen at each person's latest save."""
    draw = random.Random(seed)
    study = make_study(4)
    drafts = []
    for draft in study.runs[0].drafts:
        kind = draw.choice(["read", "read", "read", "unreadable", "missing"])
        if kind == "read":
            drafts.append(draft)
        elif kind == "unreadable":
            drafts.append(ImportedDraft(draft.instance, draft.criterion, None, reason="No form.", raw="Hm."))
    run = ImportedRun(study.runs[0].run, tuple(drafts))
    import_study(context, owner, replace(study, runs=(run,)))
    shares = Design(blind_share=0.25, first_share=0.25, planted_share=0.3, evidence_share=0.1)
    set_design(context, owner, "demo", shares)
    readable = {(d.instance, d.criterion) for d in drafts if d.score is not None}
    seen: Counter[str] = Counter()
    for name in PEOPLE:
        person = sign_in(context, name)[0]
        for step in walk(context, person):
            arm, key = step.assignment.arm, (step.instance.external_id, step.criterion.text)
            save(context, person, step, draw.randint(1, 5))
            if step.awaits_first:
                again = next(
                    one for one in walk(context, person)
                    if (one.instance, one.criterion) == (step.instance, step.criterion)
                )  # fmt: skip
                save(context, person, again, draw.randint(1, 5))
            seen[arm if arm is Arm.BLIND or key in readable else Arm.UNDRAFTED] += 1
    return seen


def texts_of(node: Node | None) -> str:
    if node is None or isinstance(node, str):
        return node or ""
    return " ".join(texts_of(child) for child in node["children"])


def numbers_of(text: str) -> Counter[str]:
    """The counts in a sentence such as "48 scores: 30 with the draft in view, 18 without it"."""
    words = {
        "with the draft in view": Arm.ASSISTED,
        "before and after seeing the draft": Arm.FIRST,
        "with its quoted passages marked": Arm.EVIDENCE,
        "without the draft": Arm.BLIND,
        "with no draft to show": Arm.UNDRAFTED,
    }
    found = re.findall(rf"(\d+)(?: \(\d+%\))? ({'|'.join(words)})", text)
    return Counter({words[phrase]: int(n) for n, phrase in found})


@pytest.mark.parametrize("seed", range(6))
def test_the_counts_of_a_study_add_up_everywhere(
    context: Context, owner: Person, seed: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    seen = fill(context, owner, seed)
    total = len(PEOPLE) * 8 * 2
    assert sum(seen.values()) == total
    with context.store.read() as db:
        assert db.conn.execute("SELECT count(*) FROM current_submission").fetchone()[0] == total
        assert write_content(db, "demo", tmp_path).arms == seen  # the card on the Hub
    latest = [row for row in read_export(context, owner, "scores.csv") if row["latest"] == "1"]
    assert Counter(row["arm"] for row in latest) == seen
    main(["stats", "--task", "demo", "--json", "--db", context.settings.server or str(context.settings.db)])
    report = json.loads(capsys.readouterr().out)
    headline = report["agreement"]["headline"]
    assert Counter(report["arms"]) == seen
    view = seen[Arm.ASSISTED] + seen[Arm.FIRST]
    every = sum(part["drafts_in_view"]["n"] for part in report["agreement"]["per_criterion"])
    assert every == view == sum(habits.n for habits in list_habits(context, owner, "demo"))
    if headline["scores"] == "all scores":
        assert (headline["drafts_in_view"]["n"], headline["drafts_in_view"]["of"]) == (view, total)
    assert numbers_of(str(get_paper_tables(context, owner, "demo")["methods.md"])) == seen
    frames = get_frames(context, owner, "demo")
    (page, *_) = build(lambda section, tables=(): section(frames))
    assert numbers_of(page.scope) == seen and page.scope.startswith(f"{total} scores")
    assert get_statistic(context, owner, "demo", arm_counts) == arm_counts(frames)
    compared: Counter[str] = Counter()
    for instance in make_study(4).instances:
        for place in (1, 2):
            columns = compare_people(context, owner, "demo", instance.external_id, place).columns
            compared.update(column.arm for column in columns)
    assert compared == seen
