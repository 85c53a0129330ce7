"""Judge a table: rows as instances, a progress bar, a separate event loop, and the table of judgments."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from coeval.domain import Instance
from coeval.errors import InputError
from coeval.llm.running.progress import Progress, Usage
from coeval.stats.clusters import DOCUMENTS, parse_clusters
from coeval.stats.report.systems import estimate_mean

if TYPE_CHECKING:
    import pandas as pd


USAGE = "usage"
"""The key of the usage in a table's ``attrs``."""


class Judgments(pd.DataFrame):
    """The table that ``judge_frame`` returns; it supports all operations of a DataFrame."""

    @property
    def _constructor(self) -> type[Judgments]:
        return Judgments

    @property
    def usage(self) -> Usage:
        """Return the calls, tokens and cost of this run. Answers from the ledger cost nothing."""
        return Usage(**self.attrs[USAGE])

    def summary(self) -> pd.DataFrame:
        """Return the mean score of each system on each criterion, with its interval.

        Each judgment counts once. The 95% interval is a jackknife over documents, because outputs for one document are
        not independent. It is nan if there are fewer than two documents, or if all documents are equal.

        Returns:
            A row for each ``system`` and ``criterion``: these, ``mean``, ``ci_low``, ``ci_high``, ``n`` (scores),
            ``documents`` and ``unscored`` (judgments without a score, which are left out).
        """
        rows, by = [], ["system", "criterion"]
        for names, part in pd.DataFrame(self).groupby(by, sort=False, dropna=False):
            scored = part[part["score"].notna()]
            values = np.asarray(scored["score"], dtype=np.float64)
            clusters = parse_clusters(scored["document"], len(scored), DOCUMENTS)
            row: dict[str, object] = dict(zip(by, names, strict=True))
            row |= {"mean": np.nan, "ci_low": np.nan, "ci_high": np.nan}
            if len(values):
                mean = estimate_mean(values, clusters)
                row |= {"mean": float(mean), "ci_low": mean.ci[0], "ci_high": mean.ci[1]}
            rows.append(
                row | {"n": len(values), "documents": clusters.n, "unscored": len(part) - len(values)}
            )
        return pd.DataFrame(rows)


FIELDS = ("input", "output", "document", "system", "reference")

T = TypeVar("T")


NO_OUTPUT = "The output is missing, so there is nothing to judge."


def read_instances(frame: pd.DataFrame, *, missing: bool = False) -> list[Instance]:
    """Return the rows as instances. Missing cells become "".

    Args:
        missing: accept rows without an output; ``find_missing`` lists them.

    Raises:
        InputError: the column input or output is missing, an id occurs twice, or a row has no output.
    """
    for name in ("input", "output"):
        if name not in frame.columns:
            raise InputError(
                f"The table has no column “{name}”; it has {', '.join(map(str, frame.columns))}."
            )
    ids = frame["instance"] if "instance" in frame.columns else frame.index
    texts = frame.astype(object).where(frame.notna(), "").astype(str)
    instances = [_instance(str(name), row) for name, row in zip(ids, texts.to_dict("records"), strict=True)]
    seen: set[str] = set()
    for instance in instances:
        if instance.external_id in seen:
            raise InputError(f"Two rows are named “{instance.external_id}”: give each row its own id.")
        seen.add(instance.external_id)
    if not missing and (rows := find_missing(frame)):
        raise InputError(
            f"Row “{instances[rows[0]].external_id}” and others have no output ({len(rows):,} of "
            f"{len(instances):,} rows): leave these rows out, or write an empty text."
        )
    return instances


def find_missing(frame: pd.DataFrame) -> list[int]:
    """Return the positions, from 0, of rows whose output is missing (None or nan)."""
    return [place for place, gone in enumerate(frame["output"].isna()) if gone]


def _instance(name: str, row: Mapping[Any, str]) -> Instance:
    named = {key: row.get(key, "") for key in FIELDS}
    further = {str(key): value for key, value in row.items() if key not in (*FIELDS, "instance")}
    return replace(Instance(name, "", ""), **named, context=further)  # type: ignore[arg-type]


class Bar:
    """A tqdm progress bar, for terminals and notebooks."""

    def __init__(self, shown: bool, label: str = "judging") -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(disable=not shown, unit=" judgments", desc=label)

    def show(self, progress: Progress) -> None:
        self._bar.total = progress.total
        self._bar.update(progress.done + progress.failed - self._bar.n)
        waiting = f", {progress.waiting}" if progress.waiting else ""
        self._bar.set_postfix_str(f"{progress.usage.tokens:,} tokens, {progress.failed:,} failed{waiting}")

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()


def run_apart(work: Callable[[], Coroutine[Any, Any, T]], stop: threading.Event) -> T:
    """Run a coroutine to its end in a separate thread, because a notebook already has an event loop.

    A keyboard interrupt stops the run after the judgments in progress.
    """
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(lambda: asyncio.run(work()))
        try:
            return future.result()
        except KeyboardInterrupt:
            stop.set()
            raise
