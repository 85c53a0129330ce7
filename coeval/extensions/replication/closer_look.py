"""“A Closer Look into Automatic Evaluation Using LLMs” (Chiang and Lee 2023), from its authors' repository."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from coeval.datasets.tables.table import require_columns
from coeval.datasets.tables.table_files import open_table
from coeval.errors import InputError
from coeval.extensions.replication.cells import Cell, Replication, load_published
from coeval.stats import correlations, williams_test
from coeval.stats.judges.vector_correlation import correlate

SUMMEVAL, TOPICAL_CHAT = "SummEval", "Topical-Chat"
LEVELS = {"dataset": "over all responses", "document": "within each document, then the mean"}
METHODS = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "tau-b"}
SCALES: Mapping[str, Mapping[str, tuple[str, tuple[int, int]]]] = {
    "summeval": {
        "coh": ("coherence", (1, 5)),
        "con": ("consistency", (1, 5)),
        "flu_new": ("fluency", (1, 5)),
        "rel": ("relevance", (1, 5)),
    },
    "topical_chat": {
        "nat": ("naturalness", (1, 3)),
        "coh": ("coherence", (1, 3)),
        "eng": ("engagingness", (1, 3)),
        "gro": ("groundedness", (0, 1)),
    },
}
"""The criteria of each study, by the beginning of a file's name. "flu" is G-Eval's fluency on 1-3, "flu_new" on 1-5."""

ROWS = {
    "geval": "auto-CoT, score only",
    "geval_no_auto_cot": "score only",
    "free_text_no_auto_cot": "free text",
    "llm_eval_no_cot": "free text",
    "rate_explain": "rate-explain",
    "analyze_rate": "analyze-rate",
    "rate_explain_auto_cot": "auto-CoT, rate-explain",
    "analyze_rate_auto_cot": "auto-CoT, analyze-rate",
}
"""The rows of the tables, by the protocol in a file's name."""

_FILE = re.compile(
    rf"gpt3\.5_(?P<criterion>coh|con|flu_new|rel|nat|eng|gro)_(?P<mode>{'|'.join(ROWS)})"
    r"(?:_(?P<temperature>0\.3|0\.7|1\.0))?(?:_(?P<persona>hhh|human)_prompt)?\.json"
)
NEEDED = {
    "human_ratings.csv": ("instance", "criterion", "annotator", "score"),
    "llm_ratings.csv": ("instance", "criterion", "mode", "mean_score"),
    "instances.csv": ("instance", "document"),
}
"""The tables of a folder that has Topical-Chat's ratings without the model's answers."""

ANSWERS = "rating_outputs.jsonl"
"""A sample of released answers, if the folder has it: text, attribute, scale and rating on each line."""

NOT_READ = (
    "Answers are read by one rule for all files, and an answer without a rating is left out. The authors' script "
    "counts it as 0, and reads one decimal at most."
)
NO_STEPS = "printed with auto-CoT, but the file's name says that there is none"


@dataclass(frozen=True)
class Ratings:
    """One criterion as one protocol rated it: a row per response with people's mean, the model's mean, the document."""

    study: str
    criterion: str
    row: str
    table: pd.DataFrame
    """Columns: people, model, document; the index names the response."""
    temperature: str = ""
    persona: str = ""

    @property
    def is_main(self) -> bool:
        """Return whether this is the main experiment: temperature 1 and no persona."""
        return not self.temperature and not self.persona


def replicate_closer_look(data: Path) -> Replication:
    """Return Tables 1 to 6: the correlations of every protocol with people, and the tests between protocols.

    ``data`` is the authors' repository, or a folder with the tables ``NEEDED``.

    Raises:
        InputError: a file or a column is missing, or a file is not in the authors' format.
    """
    files = sorted(path for path in data.rglob("gpt3.5_*.json") if _FILE.fullmatch(path.name))
    rated = [answers for path in files if (answers := _read_answers(path))] or list(_read_tables(data))
    replication = Replication("A Closer Look into Automatic Evaluation Using LLMs (Chiang and Lee 2023)")
    for answers in rated:
        replication.cells += _cells(answers)
    replication.cells += _tests([answers for answers in rated if answers.is_main])
    replication.hold_against(load_published("closer_look"))
    if files:
        replication.notes.append(NOT_READ)
    _find_same_rows(replication)
    if (data / ANSWERS).is_file():
        _find_readings(replication, data / ANSWERS)
    return replication


@lru_cache(maxsize=100_000)
def _read(text: str, scale: tuple[int, int], criterion: str) -> float:
    rating = read_released_rating(text, scale, criterion)
    return np.nan if rating is None else rating


def _read_answers(path: Path) -> Ratings | None:
    """Return the ratings of a file of the authors, or None if it is of another study."""
    match = _FILE.fullmatch(path.name)
    folder = next((name for name in SCALES if name in path.parts), "")
    if match is None or match["criterion"] not in SCALES.get(folder, {}):
        return None
    criterion, scale = SCALES[folder][match["criterion"]]
    rows = {}
    try:
        for item in json.loads(path.read_text(encoding="utf-8")):
            ratings = [_read(str(text), scale, criterion) for text in item["all_responses"]]
            numbers = [rating for rating in ratings if not np.isnan(rating)]
            rows[f"{item['system_id']}\n{item['source']}"] = {
                "people": float(item["scores"][criterion]),
                "model": sum(numbers) / len(numbers) if numbers else np.nan,
                "document": str(item["source"]),
            }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path.name} is not a file of answers as the authors published it ({error}): take it from their "
            "repository again."
        ) from error
    temperature = "" if match["temperature"] == "1.0" else match["temperature"] or ""
    study = SUMMEVAL if folder == "summeval" else TOPICAL_CHAT
    table = pd.DataFrame.from_dict(rows, orient="index").dropna()
    return Ratings(study, criterion, ROWS[match["mode"]], table, temperature, match["persona"] or "")


def _read_tables(data: Path) -> Iterator[Ratings]:
    people, model, instances = (_load(data, name) for name in NEEDED)
    human = people.groupby(["criterion", "instance"])["score"].mean()
    document = instances.set_index("instance")["document"]
    for (criterion, mode), group in model.groupby(["criterion", "mode"], sort=False):
        scores = group.set_index("instance")["mean_score"]
        columns = {"people": human.loc[str(criterion)], "model": scores, "document": document}
        table = pd.DataFrame(columns).dropna()
        yield Ratings(TOPICAL_CHAT, str(criterion), ROWS.get(str(mode), str(mode)), table)


def _load(data: Path, name: str) -> pd.DataFrame:
    path = data / name
    if not path.is_file():
        raise InputError(
            f"{data} contains neither the authors' results (gpt3.5_*.json) nor {name}: give the folder of their "
            "repository."
        )
    table = open_table(path)
    require_columns(table, dict(zip(table.columns, table.columns, strict=True)), NEEDED[name])
    frame = pd.DataFrame([row.cells for row in table.rows()])
    for column in ("score", "mean_score"):
        if column in frame:
            frame[column] = pd.to_numeric(frame[column], errors="coerce")
    return frame


def _cells(ratings: Ratings) -> Iterator[Cell]:
    """Return the correlations with people, under the tables that print them."""
    levels = correlations(
        ratings.table["people"].to_numpy(),
        ratings.table["model"].to_numpy(),
        ratings.table["document"].tolist(),
    )
    for level, words in LEVELS.items():
        for method, name in METHODS.items():
            value = getattr(getattr(levels, level), method)
            reason = f"{len(ratings.table)} responses, {words}" + (
                f"; {value.reason}" if value.reason else ""
            )
            ours = float(value) if value.defined else None
            column = f"{ratings.criterion}, {name}, {level}"
            for table, row in _places(ratings, level, method):
                said = (
                    f"{reason}; {NO_STEPS}" if ratings.row == "score only" and not ratings.is_main else reason
                )
                yield Cell(ratings.study, table, row, column, ours, reason=said)


def _places(ratings: Ratings, level: str, method: str) -> Iterator[tuple[str, str]]:
    """Yield the tables with this number, and its row in each."""
    pearson = method == "pearson" and level == "dataset"
    varied = "auto-CoT, score only" if ratings.row == "score only" else ratings.row
    printed = pearson or (method == "kendall" and level == "document")
    if ratings.persona and pearson:
        yield "Table 6", f"{ratings.persona} prompt, {varied}"
    elif ratings.temperature and pearson:
        yield "Table 5", f"temperature {ratings.temperature}, {varied}"
    elif ratings.is_main and ratings.study == SUMMEVAL:
        yield "Table 1", ratings.row
        if pearson and ratings.row in ("auto-CoT, score only", "rate-explain", "analyze-rate"):
            yield "Table 5", f"temperature 1.0, {ratings.row}"
    elif ratings.is_main:
        yield "Table 2", ratings.row
        if printed and "rate-explain" in ratings.row:
            yield "Table 3", ratings.row
        if level == "document" and method != "spearman":
            yield "Table 4", ratings.row


def _tests(rated: Sequence[Ratings]) -> Iterator[Cell]:
    """Return Williams' test for each pair of protocols, on the responses that both rated."""
    for k, a in enumerate(rated):
        for b in rated[k + 1 :]:
            if (a.study, a.criterion) != (b.study, b.criterion):
                continue
            paired = a.table.join(b.table["model"].rename("other"), how="inner")
            y, first, second = (paired[name].to_numpy() for name in ("people", "model", "other"))
            with_people = correlate(y, first, "pearson"), correlate(y, second, "pearson")
            between = correlate(first, second, "pearson")
            p_value = float(williams_test(with_people[0], with_people[1], between, len(paired)).p_two_sided)
            reason = f"two-sided, on {len(paired)} responses that both rated, taken as independent"
            row = f"{a.row} and {b.row}"
            yield Cell(a.study, "Williams' test", row, f"{a.criterion}, p", p_value, reason=reason)


def _find_same_rows(replication: Replication) -> None:
    """Add the cells of Table 2 whose printed value is that of Table 4 or of another protocol."""
    tau = {
        (cell.table, cell.row, cell.column): cell
        for cell in replication.cells
        if cell.study == TOPICAL_CHAT and cell.column.endswith("tau-b, document") and cell.printed is not None
    }
    rows = [
        {
            "row": row,
            "column": column,
            "Table 2": cell.printed,
            "Table 4": tau["Table 4", row, column].printed,
            "ours": cell.ours,
        }
        for (table, row, column), cell in tau.items()
        if table == "Table 2" and ("Table 4", row, column) in tau
        if cell.printed != tau["Table 4", row, column].printed
    ]
    replication.add(
        "tau",
        "Tables 2 and 4 print the same tau-b of Topical-Chat, within each document, so their values have to be equal. "
        "These differ.",
        rows,
    )


def _find_readings(replication: Replication, path: Path) -> None:
    """Add how many released answers our rules read as their recorded rating, and the answers that differ."""
    answers = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    rows = []
    for answer in answers:
        ours = read_released_rating(answer["text"], answer["scale"], answer["attribute"])
        if ours not in answer.get("acceptable", [answer["rating"]]):
            rows.append({"id": answer["id"], "recorded": answer["rating"], "ours": ours})
    said = f"{len(answers) - len(rows):,} of {len(answers):,} released answers are read as their recorded rating."
    replication.notes.append(said)
    replication.add("readings", "Our rules read these released answers otherwise than recorded.", rows)


# The ratings in released answers, which were given in free text: rules for sentences and list numbers. Only this
# replication uses them. A judge of CoEval is asked for a form, and only the form is read.


_NUMBER = r"(?P<number>\d{1,2}(?:\.\d+)?)(?!\d)(?:[ \t]*/[ \t]*\d)?"
_ITEM = re.compile(r"^[ \t]*(?:response|conversation|item)[ \t]*(\d+)[ \t]*:", re.I | re.M)
_LIST = re.compile(rf"^[ \t]*\d{{1,2}}\.[ \t]+{_NUMBER}[ \t]*$", re.M)
_ANY_ITEM = re.compile(r"^[ \t]*\d{1,2}\.[ \t]+\S", re.M)
_SAID = re.compile(rf"\b(?:score|rating)[ \t]+(?:of|is|would be|as)[ \t]+{_NUMBER}", re.I)
_FIRST = re.compile(rf"[ \t\n*-]*{_NUMBER}(?P<mark>[.:]|[ \t]*[-(]|[ \t]*$|[ \t]*\n)?", re.I)
_LAST = re.compile(rf"(?:^|[ \t.,])\(?{_NUMBER}\)?[.]?\s*\Z")


def read_released_rating(text: str, scale: Sequence[float], attribute: str) -> float | None:
    """Return the rating in a released answer, or None if it has none, several, or one off the scale.

    The first label counts, because models went on to rate attributes that nobody asked about. Without a label it is a
    verdict in a sentence, then a number at the beginning ("2. Somewhat"), then one at the end ("Yes, 1"). A number
    before a label or before another number is that of a list.

    >>> read_released_rating("1. Coherence: 3", (1, 3), "coherence")
    3.0
    >>> read_released_rating("2. Somewhat interesting", (1, 3), "engagingness")
    2.0
    """
    if len(set(_ITEM.findall(text))) > 1 or len(_LIST.findall(text)) > 1:
        return None
    for pattern in (_label(attribute), _SAID):
        if match := pattern.search(text):
            return _on_scale(match["number"], scale)
    if listed := _LIST.search(text):
        return _on_scale(listed["number"], scale)
    if len(_ANY_ITEM.findall(text)) > 1:
        return None
    first = _FIRST.match(text)
    if first:
        # "1. Natural" may be the first item of a list or the lowest rating
        ambiguous = re.fullmatch(rf"\s*1\.[ \t]+{attribute[:5]}\w*\s*", text, re.I)
        return None if ambiguous else _on_scale(first["number"], scale)
    last = _LAST.search(text)
    return _on_scale(last["number"], scale) if last else None


def _label(attribute: str) -> re.Pattern[str]:
    labels = rf"rating|score|response|answer|rationale|related|{re.escape(attribute)}"
    return re.compile(rf"\b(?:{labels})[ \t*]*:[ \t\n*]*{_NUMBER}", re.I)


def _on_scale(number: str, scale: Sequence[float]) -> float | None:
    return float(number) if scale[0] <= float(number) <= scale[1] else None
