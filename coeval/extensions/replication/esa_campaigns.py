"""The files of the error span campaigns: saves of people, items, and scores of the draft and of experts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from coeval.errors import InputError
from coeval.stats.frames import ASSISTED, BLIND

COLUMNS = (
    "login",
    "system",
    "item",
    "kind",
    "source",
    "target",
    "score",
    "document",
    "flag",
    "spans",
    "start",
    "end",
)
ENDINGS = {BLIND: "ESA.csv", ASSISTED: "GEMBA.csv"}
"""File endings of the campaigns without and with pre-filled spans."""

IDLE = 300.0
"""Longer times are replaced with the annotator's median, as the README of the data says."""

SAVE = ["campaign", "login", "item", "document", "kind", "system"]
"""The columns that identify a save; of two saves, the later one counts."""


@dataclass(frozen=True)
class Campaigns:
    """The saves of all campaigns, and the pairs of a planted error and its clean twin."""

    segments: pd.DataFrame
    pairs: pd.DataFrame


def read_campaigns(data: Path) -> Campaigns:
    """Return the campaigns of a folder.

    Raises:
        InputError: a file or a column is missing, or a value cannot be read.
    """
    files = {arm: sorted(data.glob(f"*{end}")) for arm, end in ENDINGS.items()}
    for arm, paths in files.items():
        if len(paths) < 2:
            what = "without" if arm == BLIND else "with"
            raise InputError(
                f"{data}: contains {len(paths)} campaigns {what} drafts (*{ENDINGS[arm]}); agreement "
                "needs two."
            )
    raw = pd.concat(
        [_read_saves(path, arm, k + 1) for arm, paths in files.items() for k, path in enumerate(paths)],
        ignore_index=True,
    )
    people = _read_table(data / "annotators.csv", ("AnnotatorID", "login"))
    annotator = people.drop_duplicates("login").set_index("login")["AnnotatorID"]
    raw["annotator"] = raw["login"].map(annotator)
    if raw["annotator"].isna().any():
        login = raw.loc[raw["annotator"].isna(), "login"].iloc[0]
        raise InputError(f"annotators.csv: has no annotator for the login {login!r}; add a line for it.")
    in_turn = raw.sort_values(["campaign", "login", "start"], kind="stable")
    in_turn["seconds"] = in_turn.groupby(["campaign", "login"])["start"].diff()
    judged = in_turn[~in_turn["document"].str.contains("tutorial|#duplicate", regex=True)]
    saves = judged.drop_duplicates(SAVE, keep="last")
    segments = saves[saves["kind"] == "TGT"].copy()
    median = segments.groupby(["campaign", "annotator"])["seconds"].transform("median")
    segments["seconds"] = segments["seconds"].where(~(segments["seconds"] > IDLE), median)
    items = _read_items(data)
    segments = _with_lines(segments, items)
    return Campaigns(_with_scores(segments, data), _pair(_with_lines(saves, items)))


def _read_saves(path: Path, arm: str, campaign: int) -> pd.DataFrame:
    try:
        saves = pd.read_csv(
            path, header=None, dtype={0: str, 1: str, 3: str, 7: str, 9: str}, encoding="utf-8-sig"
        )
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{path} cannot be read as saves of a campaign: {error}.") from error
    if saves.shape[1] != len(COLUMNS):
        raise InputError(
            f"{path.name}: has {saves.shape[1]} columns; a campaign has {len(COLUMNS)} columns and no header."
        )
    saves.columns = pd.Index(COLUMNS)
    for column in ("item", "score", "start", "end"):
        numbers = pd.to_numeric(saves[column], errors="coerce")
        if numbers.isna().any():
            line = int(np.flatnonzero(numbers.isna())[0])
            raise InputError(
                f"{path.name}, line {line + 1}: the {column} {saves[column][line]!r} is not a number."
            )
        saves[column] = numbers
    spans = [_read_spans(text, path, line) for line, text in enumerate(saves["spans"], start=1)]
    kept = [sum("error_type" not in span for span in spans_of_item) for spans_of_item in spans]
    return saves.assign(
        spans=pd.Series(spans, dtype=object),
        n_spans=[len(spans_of_item) for spans_of_item in spans],
        n_kept=kept,
        system=saves["system"].str.removeprefix("wmt23."),
        document=saves["document"].fillna(""),
        arm=arm,
        campaign=f"{arm} {campaign}",
        place=campaign,
    )


def _read_spans(text: Any, path: Path, line: int) -> list[dict[str, Any]]:
    try:
        spans = json.loads(text)
    except (TypeError, ValueError) as error:
        raise InputError(f"{path.name}, line {line}: the spans are not JSON: {str(text)[:40]!r}.") from error
    if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
        raise InputError(
            f"{path.name}, line {line}: the spans are not a list of objects: {str(text)[:40]!r}."
        )
    return spans


def _read_table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    try:
        table = pd.read_csv(path, encoding="utf-8-sig", keep_default_na=False)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{path} cannot be read as a table: {error}.") from error
    for column in columns:
        if column not in table:
            raise InputError(f"{path.name}: has no column {column!r}; it needs {', '.join(columns)}.")
    return table


def _read_items(data: Path) -> pd.DataFrame:
    items = _read_table(data / "items.csv.gz", ("itemID", "documentID", "line", "targetText"))
    for column in ("itemID", "line"):
        items[column] = pd.to_numeric(items[column], errors="coerce")
    if items[["itemID", "line"]].isna().any(axis=None):
        raise InputError("items.csv.gz: an itemID or a line is not a number.")
    return items


def _read_scores(data: Path, pattern: str) -> pd.Series[float]:
    paths = sorted(data.glob(pattern))
    if len(paths) != 1:
        raise InputError(f"{data}: contains {len(paths)} files {pattern}; exactly one is needed.")
    try:
        rows = pd.read_csv(paths[0], sep="\t", header=None, na_values="None", dtype={0: str})
        values = rows[1].astype(float)
    except (OSError, ValueError, KeyError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(
            f"{paths[0].name} does not have a system and a score on each line: {error}."
        ) from error
    return pd.Series(
        values.to_numpy(), index=pd.MultiIndex.from_arrays([rows[0], rows.groupby(0).cumcount()])
    )


def _with_lines(saves: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return the saves with the line in the source file and the text shown.

    Two people can have parts of one document with the same item. If several lines match, the line that
    continues the person's other items of the document is used. Otherwise, a line is used that continues
    nobody's items.
    """
    items = items.rename(columns={"itemID": "item", "documentID": "document"})
    items = items.assign(offset=items["line"] - items["item"])
    twice = items.duplicated(["document", "item"], keep=False)
    plain = items[~twice].set_index(["document", "item"])
    matched = saves.join(plain[["line", "targetText", "offset"]], on=["document", "item"])
    offsets = matched.groupby(["campaign", "login", "document"])["offset"].transform("first")
    taken = items[~twice].groupby("document")["offset"].agg(set)
    for at in matched.index[matched["line"].isna()]:
        document, item = matched.at[at, "document"], matched.at[at, "item"]
        options = items[twice & (items["document"] == document) & (items["item"] == item)]
        if math.isnan(offsets[at]):
            options = options[~options["offset"].isin(taken.get(document, set()))]
        else:
            options = options[options["offset"] == offsets[at]]
        if len(options) == 1:
            matched.loc[at, ["line", "targetText"]] = options[["line", "targetText"]].iloc[0].to_list()
    return matched.drop(columns="offset")


def _with_scores(segments: pd.DataFrame, data: Path) -> pd.DataFrame:
    placed = segments.dropna(subset=["line"])
    place = pd.MultiIndex.from_arrays([placed["system"], placed["line"].astype(int)])
    files = sorted(data.glob("*.docs"))
    if len(files) != 1:
        raise InputError(f"{data}: contains {len(files)} files *.docs; exactly one is needed.")
    with files[0].open(encoding="utf-8") as file:
        names = [line.rstrip("\n").split("\t")[-1] for line in file]
    lines = placed["line"].astype(int)
    if lines.max() >= len(names):
        raise InputError(
            f"{files[0].name}: has {len(names)} lines, but people judged line {lines.max() + 1}."
        )
    return placed.assign(
        unit=list(place),
        cluster=[names[line] for line in lines],
        draft=_read_scores(data, "*.LLM.seg.score").reindex(place).to_numpy(),
        reference=_read_scores(data, "wmt.*.mqm.seg.score").reindex(place).to_numpy(),
    )


def _pair(saves: pd.DataFrame) -> pd.DataFrame:
    """Return each planted error with its clean twin: the same login, document and line."""
    saves = saves.assign(base=saves["document"].str.replace(r"#bad\d+$", "", regex=True)).dropna(
        subset=["line"]
    )
    key = ["campaign", "login", "base", "line"]
    clean = saves[saves["kind"] == "TGT"].drop_duplicates(key).set_index(key)
    planted = saves[saves["kind"] == "BAD"]
    pairs = planted.join(clean[["score", "targetText"]].add_suffix("_clean"), on=key).dropna(
        subset=["score_clean"]
    )
    if not len(pairs):
        raise InputError(
            "No planted error (BAD) has a clean twin (TGT) with the same login, document and line."
        )
    return pairs.assign(
        lower=(pairs["score"] < pairs["score_clean"]).astype(float),
        marked=[
            float(_is_marked(spans, *find_change(str(text), str(clean))))
            for spans, text, clean in zip(
                pairs["spans"], pairs["targetText"], pairs["targetText_clean"], strict=True
            )
        ],
        cluster=pairs["base"].str.partition("#")[0],
    )


def find_change(text: str, clean: str) -> tuple[int, int]:
    """Return the start and end of the words that differ from the clean text, in characters.

    >>> find_change("The big dog ran.", "The old dog ran.")
    (4, 7)
    """
    words = [match.span() for match in re.finditer(r"\S+", text)]
    here, there = [text[start:end] for start, end in words], re.findall(r"\S+", clean)
    most = min(len(here), len(there))
    before = next((k for k in range(most) if here[k] != there[k]), most)
    after = next((k for k in range(most - before) if here[-1 - k] != there[-1 - k]), most - before)
    if before < len(here) - after:
        return words[before][0], words[len(here) - after - 1][1]
    at = words[min(before, len(words) - 1)][0] if words else 0
    return at, at  # the changed text only lacks words


def _is_marked(spans: Sequence[dict[str, Any]], start: int, end: int) -> bool:
    """Return whether a span overlaps or touches these characters; a span for missing text never does."""
    places = [(span.get("start_i"), span.get("end_i")) for span in spans]
    return any(
        isinstance(low, int) and isinstance(high, int) and low <= end and high >= start
        for low, high in places
    )
