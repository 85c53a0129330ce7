"""A judge is replaced on real data: ``python -m tests.benchmarks bridge [FOLDER]``.

The old judge scored every output. People and the new judge score a random quarter of the documents only. The restated
means of systems are held against people's means of all documents, beside the old judge as it is and beside scoring
everything again with the new one. HANNA has stories by 11 systems and judges of several models; of LLM-Rubric's judge,
the sampled answer is replaced by the expected score. Figures are means over criteria, judges and draws.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from coeval.extensions.judge.bridge.restated import Items, bridge_criterion, tell_orders
from coeval.extensions.judge.bridge.schema import Verdict

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
SHARE, COVERED, FLIPPED = 0.25, 0.93, 0.10
SWAPS = (
    ("Mistral-7B/prompt1", "ChatGPT/prompt1"),
    ("ChatGPT/prompt1", "Beluga-13B/prompt2"),
    ("Llama-13B/prompt3", "OrcaPlatypus/prompt4"),
    ("OrcaPlatypus/prompt2", "Mistral-7B/prompt4"),
)

Case = tuple[str, pd.DataFrame]
"""A name, and a table of ``document``, ``system``, ``people``, ``old`` and ``new``."""


def list_hanna() -> Iterator[Case]:
    """Yield each criterion and swap of HANNA."""
    for path in sorted((DATA / "hanna").glob("hanna_*.csv")):
        table = pd.read_csv(path)
        for old, new in SWAPS:
            columns = {"story": "document", "human": "people", old: "old", new: "new"}
            named = table.rename(columns=columns)[["document", "system", "people", "old", "new"]]
            yield f"HANNA, {path.stem.removeprefix('hanna_')}: {old} to {new}", named


def list_rubric() -> Iterator[Case]:
    """Yield the overall question of LLM-Rubric's real dialogues, each its own document."""
    people = pd.read_csv(DATA / "llm_rubric" / "people_real.tsv", sep="\t")
    judge = pd.read_csv(DATA / "llm_rubric" / "judge_real.tsv", sep="\t")
    for question in ("Q0", "Q1", "Q5", "Q6", "Q8"):
        given = people[people[question] > 0].groupby("text_id").agg(
            people=(question, "mean"), system=("dialogue_system", "first")
        )  # fmt: skip
        own = judge[judge["criterion"] == question].set_index("text_id")
        shares = own[[f"answer{k}_prob" for k in (1, 2, 3, 4)]].to_numpy(dtype=float)
        scores = pd.DataFrame({"old": own["sample_llm"].astype(float),
                               "new": shares @ np.arange(1, 5) / shares.sum(axis=1)})  # fmt: skip
        table = given.join(scores, how="inner").reset_index().rename(columns={"text_id": "document"})
        yield (
            f"LLM-Rubric, {question}: sampled answer to expected score",
            table.assign(system=table["system"].astype(str)),
        )


def try_swap(table: pd.DataFrame, draws: int, seed: int) -> dict[str, float]:
    """Return root mean squared errors of systems' means, the share covered, and of studies with a wrong flip."""
    rng = np.random.default_rng(seed)
    means = table.groupby("system")[["people", "old", "new"]].mean()
    documents = table["document"].unique()
    errors, linked, alone, hits, wrong = [], [], [], [], []
    for _ in range(draws):
        chosen = rng.choice(documents, round(SHARE * len(documents)), replace=False)
        anchored = table["document"].isin(chosen).to_numpy()
        old, new, people = (table[name].to_numpy(dtype=float) for name in ("old", "new", "people"))
        scored = np.where(anchored, people, np.nan)
        found, again = (
            tell_orders(
                [
                    bridge_criterion(
                        "c",
                        Items(table["document"].tolist(), table["system"].tolist(), old, rescored, scored),
                    )
                ]
            )[0]
            for rescored in (np.where(anchored, new, np.nan), new)
        )
        for bridged, collected in ((found, errors), (again, linked)):
            collected += [
                float(mean.restated.value or 0) - means.loc[mean.system, "people"] for mean in bridged.systems
            ]
        alone += list(table[anchored].groupby("system")["people"].mean() - means["people"])
        hits += [
            (mean.restated.low or 0) <= means.loc[mean.system, "people"] <= (mean.restated.high or 0)
            for mean in found.systems
        ]
        wrong.append(
            any(
                pair.verdict is Verdict.FLIPS
                and pair.before * (means.loc[pair.first, "people"] - means.loc[pair.second, "people"]) > 0
                for pair in found.pairs
            )
        )
    return {
        "nothing": _rms(means["old"] - means["people"]),
        "rescored": _rms(means["new"] - means["people"]),
        "restated": _rms(errors),
        "rescored and linked": _rms(linked),
        "labels alone": _rms(alone),
        "covered": float(np.mean(hits)),
        "wrong": float(np.mean(wrong)),
    }


def _rms(errors: Sequence[float] | pd.Series) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; the exit code says whether restating beats both others, and intervals and flips keep word."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks bridge", description=__doc__)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    fine = True
    print(
        "| case | nothing | rescored | restated | rescored and linked | labels alone | covered | wrong flip |"
    )
    print("|---|" + "---:|" * 7)
    for name, cases in (("HANNA", list_hanna()), ("LLM-Rubric", list_rubric())):
        rows = []
        for case, table in cases:
            rows.append(try_swap(table, options.draws, options.seed))
            print(f"| {case} | {' | '.join(f'{value:.3f}' for value in rows[-1].values())} |", flush=True)
        mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
        print(f"{name}, mean of {len(rows)} cases: " + ", ".join(f"{key} {v:.3f}" for key, v in mean.items()))
        fine &= mean["restated"] < min(mean["nothing"], mean["rescored"])
        fine &= mean["covered"] >= COVERED and mean["wrong"] <= FLIPPED
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
