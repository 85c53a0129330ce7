"""What corrected judges and known chances gain on released data: ``python -m tests.benchmarks label_gains``.

Corrected judges: each system of HANNA is estimated by the jury and by labels of other systems alone. Known chances:
means and rare failures of HANNA, LLM-Rubric's synthetic dialogues and ESA, from uniform and from active labels. Gains
are printed also where they are nil; the exit code says whether intervals cover and whether active labels cost over 1.05
times the error of uniform ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from coeval.extensions.labelling.chances import ACTIVE, UNIFORM, allot, chances_so_far, drawn_mean, places
from coeval.extensions.labelling.corrected_judge import check_carrying, corrected_mean, widen

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
LABELS, WORST = 100, 1.05

Case = tuple[str, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Name, people's scores, the judge's, its uncertainty, and the documents."""


def read_hanna(path: Path) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The table, with the jury's mean and the spread of its judges."""
    table = pd.read_csv(path)
    judges = table.iloc[:, 3:].to_numpy(dtype=float)
    return table, judges.mean(axis=1), judges.std(axis=1, ddof=1)


def list_cases() -> Iterator[Case]:
    """Every mean and every share of failures that is estimated."""
    for path in sorted((DATA / "hanna").glob("hanna_*.csv")):
        table, jury, spread = read_hanna(path)
        y, name = table["human"].to_numpy(dtype=float), path.stem.removeprefix("hanna_")
        document = table["story"].to_numpy()
        yield f"HANNA, {name}, mean", y, jury, spread, document
        low = np.quantile(y, 0.05)
        odds = 1 / (1 + np.exp(-3 * (np.quantile(jury, 0.05) - jury)))
        yield f"HANNA, {name}, lowest 5%", (y <= low) * 1.0, odds, np.sqrt(odds * (1 - odds)), document
    if (DATA / "llm_rubric").is_dir():
        yield from _rubric_cases()
    if (DATA / "esa").is_dir():
        yield from _esa_cases()


def _rubric_cases() -> Iterator[Case]:
    people = pd.read_csv(DATA / "llm_rubric" / "people_synthetic.tsv", sep="\t")
    judge = pd.read_csv(DATA / "llm_rubric" / "judge_synthetic.tsv", sep="\t")
    own = judge[judge["criterion"] == "Q0"].set_index("text_id")
    scores = people[people["Q0"] > 0].groupby("text_id")["Q0"].mean()
    both = scores.index.intersection(own.index)
    shares = own.loc[both, [f"answer{k}_prob" for k in (1, 2, 3, 4)]].to_numpy(dtype=float)
    shares /= shares.sum(axis=1, keepdims=True)
    points = np.arange(1, 5)
    f = shares @ points
    y, spread = scores.loc[both].to_numpy(), np.sqrt(np.maximum(shares @ points**2 - f**2, 0))
    yield "LLM-Rubric, overall, mean", y, f, spread, np.arange(len(y))
    failing = shares[:, :2].sum(axis=1)
    yield (
        "LLM-Rubric, overall, 2 or less",
        (y <= 2) * 1.0,
        failing,
        np.sqrt(failing * (1 - failing)),
        np.arange(len(y)),
    )


def _esa_cases() -> Iterator[Case]:
    def read(name: str) -> pd.DataFrame:
        return pd.read_csv(DATA / "esa" / name, sep="\t", names=["system", "score"], na_values=["None"])

    first, second, judge = (read(f"en-de.{name}.seg.score") for name in ("ESA-1", "ESA-2", "LLM"))
    y = pd.concat([first["score"], second["score"]], axis=1).mean(axis=1).to_numpy(dtype=float)
    f = judge["score"].to_numpy(dtype=float)
    lines = (DATA / "esa" / "en-de.docs").read_text(encoding="utf-8").split("\n")
    document = np.resize(np.array([line.split("\t")[-1] for line in lines if line]), len(y))
    known = ~(np.isnan(y) | np.isnan(f))
    y, f, document = y[known], f[known], document[known]
    spread = 5 + (f.max() - f) / 2
    yield "ESA, mean", y, f, spread, document
    odds = 1 / (1 + np.exp((f - np.quantile(f, 0.1)) / max(f.std() / 2, 1e-9)))
    yield "ESA, below 50", (y < 50) * 1.0, odds, np.sqrt(odds * (1 - odds)), document


def try_chances(case: Case, draws: int, seed: int) -> dict[str, tuple[float, float]]:
    """For each way to draw: the error of the mean of these items, and the share of intervals that cover it."""
    _, y, f, spread, document = case
    found = {}
    for kind in (UNIFORM, ACTIVE):
        rng = np.random.default_rng(seed)
        chance = allot(kind, spread).chances(LABELS)
        errors, hits = [], []
        for _ in range(draws):
            place = places(chance, rng.random(len(y)))
            labelled = np.zeros(len(y), dtype=bool)
            labelled[np.argsort(place)[:LABELS]] = True
            mean = drawn_mean(y, f, *chances_so_far(chance, place, labelled), clusters=document)
            errors.append(float(mean) - y.mean())
            hits.append(mean.ci_low <= y.mean() <= mean.ci_high)
        found[kind] = float(np.sqrt(np.mean(np.square(errors)))), float(np.mean(hits))
    return found


def try_corrections(path: Path, draws: int, seed: int) -> tuple[float, float, float]:
    """Errors of the jury and of the corrected mean for systems without a label, and how often intervals cover."""
    table, jury, _ = read_hanna(path)
    y, rng = np.rint(table["human"].to_numpy(dtype=float)), np.random.default_rng(seed)
    raw, own, hits = [], [], []
    for system in table["system"].unique():
        new = (table["system"] == system).to_numpy()
        for _ in range(max(1, draws // 10)):
            labelled = rng.choice(np.flatnonzero(~new), LABELS, replace=False)
            found = corrected_mean(
                y[labelled], jury[labelled], jury[new], np.arange(1.0, 6.0), replicates=200,
                clusters=table["story"].to_numpy()[labelled], clusters_new=table["story"].to_numpy()[new],
            )  # fmt: skip
            if found.defined:
                systems = table["system"].to_numpy()[labelled]
                found = widen(
                    found, check_carrying(y[labelled], jury[labelled], systems, np.arange(1.0, 6.0)), 1.0, 5.0
                )
                raw.append(jury[new].mean() - y[new].mean())
                own.append(float(found) - y[new].mean())
                hits.append(found.ci_low <= y[new].mean() <= found.ci_high)
    return (
        float(np.sqrt(np.mean(np.square(raw)))),
        float(np.sqrt(np.mean(np.square(own)))),
        float(np.mean(hits)),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print both tables; the exit code says whether the goals were met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks label_gains", description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    files = sorted((DATA / "hanna").glob("hanna_*.csv"))
    if not files:
        print(f"There is no hanna_*.csv in {DATA / 'hanna'}: the data are not here.", file=sys.stderr)
        return 2
    print(
        "| HANNA, systems without a label | error of the jury | corrected | covered |\n|---|---:|---:|---:|"
    )
    for path in files:
        raw, own, covered = try_corrections(path, options.draws, options.seed)
        print(f"| {path.stem.removeprefix('hanna_')} | {raw:.3f} | {own:.3f} | {covered:.3f} |", flush=True)
    print(
        f"\n| {LABELS} labels | one active label counts as | covered, uniform | active |\n|---|---:|---:|---:|"
    )
    fine = True
    for case in list_cases():
        found = try_chances(case, options.draws, options.seed)
        ratio = found[ACTIVE][0] / found[UNIFORM][0]
        slack = 2 * np.sqrt(1 / options.draws)
        fine = fine and ratio <= WORST + slack and found[ACTIVE][1] >= 0.92 - slack / 2
        print(
            f"| {case[0]} | {ratio**-2:.2f} | {found[UNIFORM][1]:.3f} | {found[ACTIVE][1]:.3f} |", flush=True
        )
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
