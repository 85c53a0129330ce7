"""What learning does where the truth is known: ``python -m tests.benchmarks judge_null``.

Simulated studies of 40 documents by two systems and two criteria, with two people and two judges. Under the null the
judge says on average what people say and nothing can help; with a bias it overrates one criterion by 1. The threshold
for asking people is drawn from 30 documents and checked on many others.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from coeval.extensions.judge.learning.learn import fit_deferral, learn
from coeval.extensions.replication.released_study import load
from tests.support.studies.simulated_judges import simulate_labels, simulate_lines, simulate_stub

RELEASE = Path(__file__).resolve().parents[4] / "shared" / "data" / "coeval_release_eli5"
AGREEMENT, COVERAGE, DOCUMENTS = 0.9, 0.7, 30
LEVEL = round((1 - AGREEMENT) * COVERAGE, 6)
LEFT_ALONE, FOUND, LEFT = 0.95, 0.95, 0.05


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the exit code says whether the goals were met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks judge_null", description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--release", type=Path, default=RELEASE)
    options = parser.parse_args(argv)
    alone = left_alone(options.studies)
    print(
        f"studies without bias in which no step is kept: {alone:.3f} (goal: at least {LEFT_ALONE})",
        flush=True,
    )
    found, offset = planted(options.studies // 2)
    print(
        f"studies with a bias of 1 in which it is found, and nothing else: {found:.3f} (goal: at least {FOUND})"
    )
    print(f"what is left of the bias, mean over studies: {offset:+.3f} (goal: at most {LEFT})", flush=True)
    alone_too, found_too = released(options.release, options.studies // 5)
    print(f"the same by the released ELI5 study: {alone_too:.3f} (goal: at least {LEFT_ALONE})", flush=True)
    print(
        f"and with a bias of 1 by its third criterion: {found_too:.3f} (goal: at least {FOUND})", flush=True
    )
    lost, error, kept = guarantee(options.draws)
    print(f"lines that stay and disagree: {lost:.4f}, standard error {error:.4f} (goal: at most {LEVEL:.3f})")
    print(f"agreement on the {kept:.2f} that stay: {1 - lost / kept:.3f} (promised: {1 - LEVEL / kept:.3f})")
    fits = (alone_too >= LEFT_ALONE and found_too >= FOUND) or np.isnan(alone_too)
    return (
        0 if fits and alone >= LEFT_ALONE and found >= FOUND and abs(offset) <= LEFT and lost <= LEVEL else 1
    )


def left_alone(studies: int) -> float:
    """The share of studies without bias in which nothing is kept; says on stderr which steps were, where some were."""
    kept = Counter(learn(simulate_labels(seed), judge="a").kept for seed in range(studies))
    for steps, n in kept.items():
        if steps:
            print(f"kept in {n}: {', '.join(steps)}", file=sys.stderr)
    return kept[()] / studies


def planted(studies: int) -> tuple[float, float]:
    """How often the biased criterion, and no other, gets a map, and the mean of what is left of the bias."""
    hits, left = 0, []
    for seed in range(studies):
        study = learn(simulate_labels(seed, bias=1), judge="a")
        maps = study.fitted.calibration.maps if study.fitted.calibration else {}
        hits += list(maps) == ["clear"]
        lines = study.lines[study.lines["criterion"] == "clear"]
        left.append(float((lines["score"] - lines["human"]).mean()))
    return hits / studies, float(np.mean(left))


def released(folder: Path, studies: int) -> tuple[float, float]:
    """The shares of ``left_alone`` and ``planted`` by a stub on the released study; nan where it is not there."""
    if not folder.is_dir():
        print(f"There is no {folder}; name the released ELI5 study with --release.", file=sys.stderr)
        return np.nan, np.nan
    study = load(folder, "eli5")
    biased = study.criteria[2].text
    kept = [learn(simulate_stub(study, seed)).kept for seed in range(studies)]
    maps = [
        learn(simulate_stub(study, seed, biased=biased, bias=1)).fitted.calibration
        for seed in range(max(1, studies // 4))
    ]
    found = [bool(m) and list(m.maps) == [biased] for m in maps]
    return kept.count(()) / studies, float(np.mean(found))


def guarantee(draws: int, seed: int = 0) -> tuple[float, float, float]:
    """Over draws of dev documents: the share that stays and disagrees, its standard error, the share that stays."""
    rng = np.random.default_rng(seed)
    fresh: pd.DataFrame = simulate_lines(rng, 4000)
    lost, kept = [], []
    for _ in range(draws):
        told = fit_deferral(simulate_lines(rng, DOCUMENTS), "samples", agreement=AGREEMENT, coverage=COVERAGE)
        stays = ~told.apply(fresh)["ask_person"].to_numpy()
        lost.append(float((stays * (1 - fresh["agree"])).mean()))
        kept.append(float(stays.mean()))
    return float(np.mean(lost)), float(np.std(lost) / np.sqrt(draws)), float(np.mean(kept))


if __name__ == "__main__":
    sys.exit(main())
