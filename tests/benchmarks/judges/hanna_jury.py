"""Juries beside single judges on HANNA, dev and certificate parts in one table: ``hanna_jury [FOLDER]``.

Every ``hanna_*.csv`` of the folder (story, system, human, then a column a judge) is one criterion. The prompts are
dealt into two halves by a salted hash: everything is fitted and chosen on dev, where the figures are by
cross-validation over prompts, and the certificate half is scored once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from coeval.domain import Scale
from coeval.extensions.judge.learning.cross_validation import (
    Measures,
    deal,
    join_tables,
    judged_lines,
    measure,
)
from coeval.extensions.judge.learning.jury import KINDS, fit_best_judge, fit_jury, single_judge
from coeval.extensions.judge.learning.learn import Wishes, learn
from coeval.extensions.judge.model.fitted import Fitted, Jury
from coeval.extensions.judge.model.labels import Labels
from coeval.llm.prompting.questions import mark_document

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "hanna"
SALT, SHARE = "hanna", 0.5
GOAL = 3
"""Criteria by which the jury that is kept has the lower error on the certificate part."""

JURY, SINGLE, HINDSIGHT = "jury", "best judge of dev", "best judge in hindsight"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the exit code says whether the jury beat the best single judge on the certificate part."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks hanna_jury", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    options = parser.parse_args(argv)
    if not sorted(options.folder.glob("hanna_*.csv")):
        print(f"There is no hanna_*.csv in {options.folder}; name the folder that has them.", file=sys.stderr)
        return 2
    labels = load_labels(options.folder)
    dev, certificate = split(labels)
    study = learn(dev, Wishes(calibration=False, deferral=False))
    for c in study.comparisons:
        word = "kept" if c.kept else c.reason or "another helps more"
        print(f"jury by {c.candidate}: gain {shown(c.gain)}, p {c.p_value:.1g}: {word}")
    print(f"\n| {len(dev.documents)} dev prompts, {len(certificate.documents)} of the certificate | criterion "
          "| RMSE dev | RMSE cert. | Pearson dev | Pearson cert. | Spearman dev | Spearman cert. |")  # fmt: skip
    print("|---|---|" + "---:|" * 6)
    ways: dict[str, Callable[[Labels], Jury]] = {SINGLE: fit_best_judge}
    ways |= {f"{JURY} by {kind}": partial(fit_jury, kind=kind) for kind in KINDS}
    certified = {}
    for name, fit in ways.items():
        parts = score(dev, certificate, fit)
        for criterion in labels.criteria:
            sides = [measure(part[part["criterion"] == criterion]) for part in parts]
            certified[name, criterion] = sides[1]
            cells = [shown(getattr(side, key)) for key in ("rmse", "pearson", "spearman") for side in sides]
            print(f"| {name} | {criterion} | {' | '.join(cells)} |", flush=True)
    for criterion in labels.criteria:
        best = best_raw(certificate, criterion)
        print(f"| {HINDSIGHT}, as it is | {criterion} | | {shown(best.rmse)} | | {shown(best.pearson)} | "
              f"| {shown(best.spearman)} |")  # fmt: skip
    kept = next((c.candidate for c in study.comparisons if c.kept), None)
    won = (certified[f"{JURY} by {kept}", c].rmse < certified[SINGLE, c].rmse for c in labels.criteria)
    better = list(won) if kept else []
    print(f"The jury by {kept} was kept; its RMSE on the certificate part is the lower by {sum(better)} criteria "
          f"(goal: {GOAL}).")  # fmt: skip
    return 0 if sum(better) >= GOAL else 1


def load_labels(folder: Path) -> Labels:
    """All criteria; an instance is a story by a system, its document the prompt. People's mean counts as one person."""
    people, judges, scales = [], [], {}
    for path in sorted(folder.glob("hanna_*.csv")):
        table, criterion = pd.read_csv(path), path.stem.removeprefix("hanna_")
        table["instance"] = table["story"].astype(str) + "/" + table["system"]
        scales[criterion] = Scale(1, 5)
        people.append(pd.DataFrame({
            "instance": table["instance"], "document": "prompt " + table["story"].astype(str),
            "system": table["system"], "criterion": criterion, "person": "mean of three", "score": table["human"],
        }))  # fmt: skip
        long = table.melt("instance", list(table.columns[3:-1]), "judge", "score")
        judges.append(long.assign(criterion=criterion, spread=float("nan")))
    return Labels(pd.concat(people, ignore_index=True), pd.concat(judges, ignore_index=True), scales)


def split(labels: Labels) -> tuple[Labels, Labels]:
    """Dev and certificate parts by a salted hash of the prompt."""
    sealed = {d for d in labels.documents if int(mark_document(d, SALT)[:8], 16) < SHARE * 16**8}
    return labels.for_documents(set(labels.documents) - sealed), labels.for_documents(sealed)


def score(
    dev: Labels, certificate: Labels, fit: Callable[[Labels], Jury]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The lines of dev, each by the other parts of dev, and those of the certificate, by all of dev."""
    crossed = join_tables([Fitted(jury=fit(fold.rest)).apply(fold.own.judges) for fold in deal(dev)])
    held_out = Fitted(jury=fit(dev)).apply(certificate.judges)
    return judged_lines(dev, crossed), judged_lines(certificate, held_out)


def best_raw(labels: Labels, criterion: str) -> Measures:
    """The single judge with the highest correlation on the very lines it is measured on, as it is."""
    sides = []
    for name in labels.members:
        lines = judged_lines(labels, Fitted(jury=single_judge(labels, name)).apply(labels.judges))
        sides.append(lines[lines["criterion"] == criterion])
    return measure(max(sides, key=lambda part: part["score"].corr(part["human"])))


def shown(value: float) -> str:
    low, high = value.ci  # type: ignore[attr-defined]
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    sys.exit(main())
