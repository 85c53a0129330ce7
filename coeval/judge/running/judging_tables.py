"""What judging a table takes beside the judge: rows as instances, a bar, and an event loop of its own."""

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


def read_instances(frame: pd.DataFrame) -> list[Instance]:
    """The rows as instances; what is missing in a cell is empty.

    Raises:
        InputError: the column input or output is missing, or an id stands there twice.
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
            raise InputError(f"“{instance.external_id}” names two rows: give every row an id of its own.")
        seen.add(instance.external_id)
    return instances


def _instance(name: str, row: Mapping[Any, str]) -> Instance:
    named = {key: row.get(key, "") for key in FIELDS}
    further = {str(key): value for key, value in row.items() if key not in (*FIELDS, "instance")}
    return replace(Instance(name, "", ""), **named, context=further)  # type: ignore[arg-type]


class Bar:
    """The progress bar: tqdm's, which fits a terminal and a notebook."""

    def __init__(self, shown: bool, label: str = "judging") -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(disable=not shown, unit=" judgments", desc=label)

    def show(self, progress: Progress) -> None:
        self._bar.total = progress.total
        self._bar.update(progress.done + progress.failed - self._bar.n)
        self._bar.set_postfix_str(f"{progress.usage.tokens:,} tokens, {progress.failed:,} failed")

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()


def run_apart(work: Callable[[], Coroutine[Any, Any, T]], stop: threading.Event) -> T:
    """Run to the end; in a thread of its own, since a notebook has an event loop already.

    An interruption from the keyboard stops the run after what is under way.
    """
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(lambda: asyncio.run(work()))
        try:
            return future.result()
        except KeyboardInterrupt:
            stop.set()
            raise
