"""A judge that learns on synthetic dialogues and is held against people on real ones: ``llm_rubric [FOLDER]``.

The data are LLM-Rubric's (Hashemi et al. 2024): people's ratings of dialogues by nine questions, and a model's
probabilities of the answers 1-4. Question 0, overall satisfaction, is what is predicted. The map and everything it was
chosen by come from the synthetic dialogues alone. The real ones are then predicted twice: as they are, and with each
person's leniency from the other tenths of the real dialogues, beside baselines that know just as much.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from coeval.domain import Scale
from coeval.extensions.judge.learning.calibration import Seen, learn_maps, leniency
from coeval.extensions.judge.learning.cross_validation import Measures, deal, measure
from coeval.extensions.judge.learning.learn import Study, Wishes, learn
from coeval.extensions.judge.model.fitted import Calibration, Fitted
from coeval.extensions.judge.model.labels import PEOPLE, PROBABILITIES, Labels

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "llm_rubric"
OVERALL = "Q0"
PUBLISHED = {"pearson": 0.313, "spearman": 0.368, "kendall": 0.291}
"""Of LLM-Rubric, trained on the synthetic and tested on the real dialogues (its table 2)."""

ALONE, WITH_LENIENCY = "map alone", "map and leniency of others"
RIVALS = {ALONE: 0.793, WITH_LENIENCY: 0.727}
"""The RMSE of what knows as much of the real dialogues: their mean, and who rated, both by cross-validation."""

ANSWERS = ["answer1_prob", "answer2_prob", "answer3_prob", "answer4_prob"]
FOLDS = 10


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the exit code says whether the goals were met."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks llm_rubric", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    options = parser.parse_args(argv)
    if not (options.folder / "people_real.tsv").is_file():
        print(
            f"There is no people_real.tsv in {options.folder}; name the folder that has it.", file=sys.stderr
        )
        return 2
    synthetic, real = (load_labels(options.folder, part) for part in ("synthetic", "real"))
    study, rows = evaluate(synthetic, real)
    tried = [c for c in study.comparisons if c.criterion == OVERALL]
    print("Tried on the synthetic dialogues, question 0:")
    for c in tried:
        word = "kept" if c.kept else c.reason or "another helps more"
        print(
            f"  {c.step}, {c.candidate}: squared error lower by {float(c.gain):.3f}, p {c.p_value:.2g}: {word}"
        )
    print(
        "\n| real dialogues, question 0 | n | RMSE | MAE | Pearson | Spearman | Kendall |\n|---|"
        + "---:|" * 6
    )
    for name, found in rows.items():
        print(f"| {name} | {found.lines} | " + " | ".join(shown(getattr(found, key)) for key in
              ("rmse", "mae", "pearson", "spearman", "kendall")) + " |")  # fmt: skip
    return told(rows)


def told(rows: dict[str, Measures]) -> int:
    """Say which goals were met; 0 where all were."""
    missed = 0
    for name, rmse in RIVALS.items():
        for key, goal in {"rmse": rmse, **PUBLISHED}.items():
            value = float(getattr(rows[name], key))
            fits = value <= goal if key == "rmse" else value >= goal
            missed += not fits
            print(f"{name}: {key} {value:.3f}, goal {goal}: {'reached' if fits else 'missed'}")
    return 1 if missed else 0


def shown(value: float) -> str:
    low, high = value.ci  # type: ignore[attr-defined]
    return f"{value:.3f} [{low:.3f}, {high:.3f}]" if not np.isnan(value) else "-"


def load_labels(folder: Path, part: str) -> Labels:
    """One of the two parts; 0, not applicable, is no rating; of two by the same person the last counts."""
    people = pd.read_csv(folder / f"people_{part}.tsv", sep="\t")
    judge = pd.read_csv(folder / f"judge_{part}.tsv", sep="\t")
    questions = sorted(judge["criterion"].unique())
    named = people.rename(columns={"text_id": "instance"}).assign(
        person="P" + people["annotator_id"].astype(str), document=people["text_id"],
        system=people["dialogue_system"].astype(str) if "dialogue_system" in people else "",
    )  # fmt: skip
    long = named.melt(["instance", "document", "system", "person"], questions, "criterion", "score")
    long = long[(long["score"] > 0) & long["instance"].isin(judge["text_id"])].astype({"score": float})
    long = long.drop_duplicates(["instance", "criterion", "person"], keep="last")
    shares = judge[ANSWERS].to_numpy(dtype=float)
    shares /= shares.sum(axis=1, keepdims=True)
    judges = judge.rename(columns={"text_id": "instance"})[["instance", "criterion"]].assign(
        judge="gpt-3.5-turbo-16k", score=shares @ np.arange(1, 5), spread=np.nan
    )
    judges[PROBABILITIES] = [tuple(row) for row in shares.tolist()]
    return Labels(long[list(PEOPLE)].reset_index(drop=True), judges, dict.fromkeys(questions, Scale(1, 4)))


def evaluate(synthetic: Labels, real: Labels) -> tuple[Study, dict[str, Measures]]:
    """What was learned on the synthetic dialogues, and the measures of every way to score the real ones."""
    dev = Labels(of_overall(synthetic.people), synthetic.judges, synthetic.scales)
    study = learn(dev, Wishes(jury=False, deferral=False))
    kept = next((c.candidate for c in study.comparisons if c.kept and c.criterion == OVERALL), None)
    learned = learn_maps(Seen(dev, Fitted().apply(dev.judges)), {OVERALL: kept}) if kept else {}
    lines = of_overall(real.people).rename(columns={"score": "human"})
    raw = score_lines(Fitted(), real, lines)
    fitted = Fitted(calibration=Calibration(maps={name: part.map for name, part in learned.items()}))
    mapped = score_lines(fitted, real, lines)
    known = learned[OVERALL].leniency if learned else {}
    carried = mapped + np.array([known.get(person, 0.0) for person in lines["person"]])
    level = np.zeros(len(lines))
    ways = {
        "raw judge": raw,
        "constant": cross_constant(real, lines),
        "leniency of others alone": cross_leniency(real, lines, level),
        "map without leniency": mapped,
        ALONE: carried,
        "raw judge and leniency of others": cross_leniency(real, lines, raw),
        WITH_LENIENCY: cross_leniency(real, lines, mapped),
    }
    return study, {name: measure(lines.assign(score=score)) for name, score in ways.items()}


def of_overall(people: pd.DataFrame) -> pd.DataFrame:
    return people[people["criterion"] == OVERALL].reset_index(drop=True)


def score_lines(fitted: Fitted, labels: Labels, lines: pd.DataFrame) -> np.ndarray:
    table = fitted.apply(labels.judges)
    own = table[table["criterion"] == OVERALL].set_index("instance")["score"]
    return own.reindex(lines["instance"]).to_numpy(dtype=float)


def cross_constant(labels: Labels, lines: pd.DataFrame) -> np.ndarray:
    """The mean of the other parts."""
    score = np.zeros(len(lines))
    for fold in deal(labels, FOLDS):
        own = lines["document"].isin(fold.own.documents).to_numpy()
        score[own] = lines["human"][~own].mean()
    return score


def cross_leniency(labels: Labels, lines: pd.DataFrame, score: np.ndarray) -> np.ndarray:
    """The scores moved by the mean residual of the other parts, and by each person's leniency in them."""
    moved = score.copy()
    for fold in deal(labels, FOLDS):
        own = lines["document"].isin(fold.own.documents).to_numpy()
        residual = (lines["human"] - score)[~own].to_numpy(dtype=float)
        shift = residual.mean()
        lenient = leniency(residual - shift, lines["person"][~own].to_numpy())
        moved[own] += shift + lines["person"][own].map(lenient).fillna(0.0).to_numpy(dtype=float)
    return moved


if __name__ == "__main__":
    sys.exit(main())
