"""Support for judging a table: rows as instances, a progress bar, and a separate event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from coeval.domain import Instance
from coeval.errors import InputError
from coeval.llm.running.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

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
