"""What a minute of people's work gives: ``python -m tests.benchmarks minute [--items N]``.

Simulated annotators with a known time, care and susceptibility work through CoEval's arms by its own use cases, and
the section "What the drafts did" is held against what was put in. Items for each hour add the tool's own cost for each
item. Every number that is no measurement of this run is printed as an assumption, with its source.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from coeval.domain import (
    Arm,
    Criterion,
    EvaluationRow,
    ImportedDraft,
    ImportedRun,
    Instance,
    RowKind,
    Run,
    Study,
    Task,
)
from coeval.rules.arms import Design
from coeval.settings import load_settings
from coeval.stats import krippendorff_alpha
from coeval.store import Store
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.reports.statistics import get_frames
from coeval.usecases.scrutiny.design import set_design
from coeval.usecases.scrutiny.steps import Where, get_step, submit
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.support.studies.scrutiny_steps import sent_of

SHARES = {Arm.BLIND: 0.25, Arm.EVIDENCE: 0.25, Arm.REASONS: 0.25, Arm.ASSISTED: 0.25}

# Fitted on the public ESA campaigns (numbers of `replicate esa`): Pearson's r of truth (experts), what people share,
# and the draft. People share .470 of their variance (agreement of two campaigns); a person alone has .384 with experts
# and .464 with the draft, the draft has .505 with experts.
TRUTH, SHARED, DRAFT = range(3)
COVARIANCE = np.array([[1.0, 0.384, 0.505], [0.384, 0.470, 0.464], [0.505, 0.464, 1.0]])
OWN = 1 - 0.470
BLIND_SECONDS, WITHIN, BETWEEN = 34.9, 1.03, 0.38
"""Typical seconds of a segment without a draft, and the spread of log seconds within and between people (ESA)."""


@dataclass(frozen=True)
class Shown:
    """What an arm does to a person: how far they move to the draft, and their share of the blind time."""

    pull: float
    time: float
    source: str


ARMS = {
    Arm.BLIND: Shown(0.0, 1.0, "by definition"),
    Arm.EVIDENCE: Shown(0.05, 0.95, "ASSUMPTION: little pull, as Jain et al. 2025 found for evidence alone"),
    Arm.REASONS: Shown(0.15, 0.95, "ASSUMPTION: between evidence and the full draft"),
    Arm.ASSISTED: Shown(
        0.255, 0.83, "fitted: raises rho with the draft from .464 to .674 (ESA); typical time 28.9 of 34.9 s"
    ),
}

TOOL_SOURCES = {
    "CoEval": "measured in this run: the server's time for a save and the next step",
    "spreadsheet": "ASSUMPTION: finding the row, reading beside it, and typing (keystroke-level model)",
}
SPREADSHEET = 4.0


def draw_points(values: np.ndarray) -> np.ndarray:
    """Standard normal values as points from 1 to 5."""
    return np.asarray(np.digitize(values, [-1.5, -0.5, 0.5, 1.5]) + 1, dtype=float)


@dataclass
class People:
    """Annotators with a level of time and their own part of every judgment."""

    rng: np.random.Generator
    items: int
    n: int

    def __post_init__(self) -> None:
        root = np.linalg.cholesky(COVARIANCE)
        self.latent = self.rng.normal(size=(self.items, 3)) @ root.T
        self.own = self.latent[:, SHARED, None] + np.sqrt(OWN) * self.rng.normal(size=(self.items, self.n))
        self.slow = np.exp(self.rng.normal(0, BETWEEN, self.n))
        self.truth, self.draft = draw_points(self.latent[:, TRUTH]), draw_points(self.latent[:, DRAFT])

    def judge(self, person: int, item: int, arm: Arm, shown: float) -> tuple[float, float]:
        """Return the score and the seconds of one item; ``shown`` is the draft as it stands, right or wrong."""
        does = ARMS[arm]
        place = (shown - 3.0) if arm is not Arm.BLIND else 0.0
        seen = (1 - does.pull) * self.own[item, person] + does.pull * place
        noise = float(np.exp(self.rng.normal(0, WITHIN)))
        seconds = BLIND_SECONDS * float(self.slow[person]) * does.time * noise
        return float(draw_points(np.array([seen]))[0]), seconds


def make_study(people: People) -> Study:
    instances = tuple(
        Instance(f"i{n:04d}", f"Text {n}", f"Answer {n}.", f"d{n // 2}") for n in range(people.items)
    )
    drafts = []
    for n, one in enumerate(instances):
        score = float(people.draft[n])
        rows = (
            EvaluationRow(RowKind.CONCLUSION, "On the whole it does what was asked."),
            EvaluationRow(RowKind.SCORE, f"{score:g}"),
            EvaluationRow(RowKind.EVIDENCE, "The answer names its number."),
        )
        drafts.append(ImportedDraft(one.external_id, "Be right.", score, rows))
    run = ImportedRun(Run("imported", "simulated", "draft", shown=True), tuple(drafts))
    return Study(Task("minute", "A minute of work"), instances, (Criterion("Be right."),), (run,))


def work(context: Context, people: People) -> tuple[pd.DataFrame, float]:
    """Everybody judges every item in the arm that CoEval draws; the rows, and the tool's own seconds for an item."""
    import_study(context, OPERATOR, make_study(people))
    design = Design(
        blind_share=SHARES[Arm.BLIND],
        evidence_share=SHARES[Arm.EVIDENCE],
        reasons_share=SHARES[Arm.REASONS],
        planted_share=0.2,
    )
    owner = sign_in(context, "Olu")[0]
    set_design(context, owner, "minute", design)
    rows, cost = [], 0.0
    for number in range(people.n):
        person = sign_in(context, f"Worker {number:02d}")[0]
        for position in range(1, people.items + 1):
            started = time.perf_counter()
            step = get_step(context, person, "minute", Where(position=position))
            cost += time.perf_counter() - started
            assert step.instance and step.assignment and step.assignment.arm
            item, arm = int(step.instance.external_id[1:]), step.assignment.arm
            # a draft's score where it is on the screen; elsewhere people sense where its evidence points
            shown = step.draft.score if step.draft and step.draft.score is not None else people.draft[item]
            score, seconds = people.judge(number, item, arm, float(shown))
            started = time.perf_counter()
            submit(context, person, "minute", sent_of(step, score))
            cost += time.perf_counter() - started
            rows.append((number, item, str(arm), score, float(shown), seconds))
    columns = ["annotator", "item", "arm", "score", "shown", "seconds"]
    return pd.DataFrame(rows, columns=columns), cost / len(rows)


def tell_arms(people: People, rows: pd.DataFrame, scores: pd.DataFrame, tools: dict[str, float]) -> bool:
    """Print what a minute of work gives in each arm and tool; False where the study's own record differs."""
    print(
        "| arm | tool | items an hour | error against the truth | agreement (alpha) | planted errors caught |"
    )
    print("|---|---|---:|---:|---:|---:|")
    planted = scores[scores["planted_score"].astype(bool)]
    caught = float((planted["score"] != planted["shown_score"]).mean()) if len(planted) else np.nan
    for arm in SHARES:
        own = rows[rows["arm"] == str(arm)]
        error = float((own["score"] - people.truth[own["item"]]).abs().mean())
        table = own.pivot_table(index="annotator", columns="item", values="score").to_numpy(dtype=float)
        alpha = float(krippendorff_alpha(table, "ordinal"))
        for tool, seconds in tools.items():
            if tool != "CoEval" and arm is not Arm.BLIND and arm is not Arm.ASSISTED:
                continue  # no other tool has these arms
            spent = float(own["seconds"].mean()) + seconds
            share = f"{caught:.3f}" if arm is Arm.ASSISTED and tool == "CoEval" else "–"
            print(f"| {arm} | {tool} | {3600 / spent:.1f} | {error:.3f} | {alpha:.3f} | {share} |")
    constant = float(np.abs(people.draft - people.truth).mean())
    print(f"\nThe draft alone has an error of {constant:.3f}.")
    kept = scores["arm"].value_counts().to_dict() == rows["arm"].value_counts().to_dict()
    same = abs(float(scores["score"].mean()) - float(rows["score"].mean())) < 1e-9
    print(f"The study's own record has the same arms and scores: {'yes' if kept and same else 'NO'}.")
    return bool(kept and same)


def tell_assumptions(tools: dict[str, float]) -> None:
    print("\nFitted, measured and assumed:")
    print("- truth, people and draft correlate as in the ESA campaigns (.384, .464, .505; people share .470)")
    spread = f"log spread {WITHIN} within, {BETWEEN} between people"
    print(f"- a segment takes {BLIND_SECONDS} s (ESA, geometric mean), {spread}")
    print("- ESA judged translations: other tasks take other times. Scores are cut to five points")
    for arm, does in ARMS.items():
        print(f"- {arm}: pull {does.pull:g}, {does.time:g} of the blind time: {does.source}")
    for tool, seconds in tools.items():
        print(f"- {tool}: {seconds:.3f} s more for each item: {TOOL_SOURCES[tool]}")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the exit code says whether the record is whole."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks minute", description=__doc__)
    parser.add_argument("--items", type=int, default=160)
    parser.add_argument("--people", type=int, default=6)
    parser.add_argument("--seed", type=int, default=20261124)
    options = parser.parse_args(argv)
    people = People(np.random.default_rng(options.seed), options.items, options.people)
    with TemporaryDirectory() as place:
        path = Path(place) / "minute.db"
        context = Context(Store(path), load_settings({}, db=path))
        rows, cost = work(context, people)
        tools = {"CoEval": cost, "spreadsheet": SPREADSHEET}
        fine = tell_arms(people, rows, get_frames(context, OPERATOR, "minute").scores, tools)
        context.store.close()
    tell_assumptions(tools)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
