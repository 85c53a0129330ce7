"""“A Closer Look into Automatic Evaluation Using LLMs” (Chiang and Lee 2023) from its Topical-Chat ratings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from coeval.datasets.tables.table import require_columns
from coeval.datasets.tables.table_files import open_table
from coeval.errors import InputError
from coeval.extensions.replication.cells import Cell, Replication
from coeval.extensions.replication.released_ratings import read_released_rating
from coeval.stats import correlations, williams_test
from coeval.stats.judges.vector_correlation import correlate

STUDY = "Topical-Chat"
LEVELS = {"dataset": "over all responses", "document": "within each dialogue, then the mean"}
METHODS = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "tau-b"}
ELSEWHERE = ("engagingness", "groundedness")
NEEDED = {
    "human_ratings.csv": ("instance", "criterion", "annotator", "score"),
    "llm_ratings.csv": ("instance", "criterion", "mode", "mean_score"),
    "instances.csv": ("instance", "document"),
}
ANSWERS = "rating_outputs.jsonl"
"""The released answers, if the folder has them: text, attribute, scale and rating on each line."""

TRUNCATED = "it uses ratings that a rule with cut decimals read from answers that are not in the files"


def replicate_closer_look(data: Path) -> Replication:
    """Return Table 2's correlations of every protocol with people, and the tests between protocols.

    Raises InputError if a file or a column is missing.
    """
    people, model, instances = (_load(data, name) for name in NEEDED)
    human = people.groupby(["criterion", "instance"])["score"].mean()
    document = instances.set_index("instance")["document"]
    replication = Replication("A Closer Look into Automatic Evaluation Using LLMs (Chiang and Lee 2023)")
    for criterion in dict.fromkeys(model["criterion"]):
        own = model[model["criterion"] == criterion]
        for mode in dict.fromkeys(own["mode"]):
            scores = own[own["mode"] == mode].set_index("instance")["mean_score"].dropna()
            replication.cells += _table_2(str(criterion), str(mode), human.loc[criterion], scores, document)
        replication.cells += _tests(str(criterion), own, human.loc[criterion])
    rated = set(model["criterion"])
    for criterion in ELSEWHERE:
        if criterion not in rated:
            reason = f"the files have no ratings of {criterion}"
            reason += f"; as printed {TRUNCATED}" if criterion == "groundedness" else ""
            replication.cells.append(Cell(STUDY, "Table 2", "all", criterion, None, reason=reason))
    _find_last_rows(replication)
    if (data / ANSWERS).is_file():
        _find_readings(replication, data / ANSWERS)
    return replication


def _load(data: Path, name: str) -> pd.DataFrame:
    path = data / name
    if not path.is_file():
        raise InputError(f"{data}: contains no {name}; give the folder with the ratings of Topical-Chat.")
    table = open_table(path)
    require_columns(table, dict(zip(table.columns, table.columns, strict=True)), NEEDED[name])
    frame = pd.DataFrame([row.cells for row in table.rows()])
    for column in ("score", "mean_score"):
        if column in frame:
            frame[column] = pd.to_numeric(frame[column], errors="coerce")
    return frame


def _table_2(
    criterion: str, mode: str, human: pd.Series, model: pd.Series, document: pd.Series
) -> Iterator[Cell]:
    both = human.index.intersection(model.index)
    levels = correlations(human[both].to_numpy(), model[both].to_numpy(), document[both].tolist())
    for level, words in LEVELS.items():
        part = levels.of(level)
        for method, name in METHODS.items():
            value = part.of(method)
            reason = f"{len(both)} responses, {words}" + (f"; {value.reason}" if value.reason else "")
            ours = float(value) if value.defined else None
            yield Cell(STUDY, "Table 2", mode, f"{criterion}, {name}, {level}", ours, reason=reason)


def _tests(criterion: str, own: pd.DataFrame, human: pd.Series) -> Iterator[Cell]:
    """Return Williams' test for each pair of protocols, on the responses that both rated."""
    table = own.pivot(index="instance", columns="mode", values="mean_score")
    modes = list(dict.fromkeys(own["mode"]))
    for k, a in enumerate(modes):
        for b in modes[k + 1 :]:
            rows = table[[a, b]].dropna()
            rows = rows[rows.index.isin(human.index)]
            y = human[rows.index].to_numpy()
            first, second = rows[a].to_numpy(), rows[b].to_numpy()
            with_people = correlate(y, first, "pearson"), correlate(y, second, "pearson")
            between = correlate(first, second, "pearson")
            p_value = float(williams_test(with_people[0], with_people[1], between, len(rows)).p_two_sided)
            reason = f"two-sided, on {len(rows)} responses that both rated, taken as independent"
            yield Cell(STUDY, "Williams' test", f"{a} and {b}", f"{criterion}, p", p_value, reason=reason)


def _find_last_rows(replication: Replication) -> None:
    rows = [
        {"protocol": cell.row, "column": cell.column, "ours": cell.ours}
        for cell in replication.cells
        if cell.table == "Table 2" and cell.row.endswith("_auto_cot")
    ]
    replication.add(
        "last_rows",
        "Table 2: the labels of the last two rows do not seem to match their values. Compare the printed "
        "rows with these, whose names come from the files. With --printed, a row that equals another one is "
        "named below.",
        rows,
    )


def _find_readings(replication: Replication, path: Path) -> None:
    """Add how many released answers our rules read as their recorded rating, and the answers that differ."""
    answers = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = []
    for answer in answers:
        ours = read_released_rating(answer["text"], answer["scale"], answer["attribute"])
        if ours not in answer.get("acceptable", [answer["rating"]]):
            rows.append({"id": answer["id"], "recorded": answer["rating"], "ours": ours})
    said = f"{len(answers) - len(rows):,} of {len(answers):,} released answers are read as their recorded rating."
    replication.notes.append(said)
    replication.add("readings", "Our rules read these released answers otherwise than recorded.", rows)
