"""People's scores into Inspect's logs, as edits of scores (``inspect_ai.log.edit_score``)."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.datasets.evallogs.inspect_logs import OURS, load_log, name_sample
from coeval.datasets.json_nodes import load_node
from coeval.errors import InputError

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.scorer import ScoreEdit

AUTHOR = "CoEval"


def render_edit(task: str, instance: str, criterion: str, scores: Sequence[float], at: str) -> dict[str, Any]:
    """The mean of people's scores as an edit that Inspect reads; the scores stand in it, without names."""
    people = f"{len(scores)} {'person' if len(scores) == 1 else 'people'}"
    provenance = {
        "timestamp": at,
        "author": AUTHOR,
        "reason": f"mean of the scores of {people}",
        "metadata": {OURS: {"task": task, "scores": list(scores)}},
    }
    edit = {"value": sum(scores) / len(scores), "provenance": provenance}
    return {"instance": instance, "score_name": criterion, "edit": edit}


def edit_log(log_path: Path, edits_path: Path, folder: Path) -> tuple[Path, int]:
    """Write a log with the edits of a file into a folder, under its own name; also how many edits it took.

    The log itself is left as it is. A score that the log lacks is added; an edit that it has already is not repeated.

    Raises InputError for a file that cannot be read, or a folder that is the log's own.
    """
    edits: dict[str, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
    for line in load_node(edits_path).items():
        edits[line.get("instance").name()].append((line.get("score_name").name(), line.get("edit").value))
    resolved = load_log(log_path)  # names are of the texts themselves, which a log keeps apart
    names = {(sample.id, sample.epoch): name_sample(resolved, sample) for sample in resolved.samples or ()}
    if folder.resolve() == log_path.resolve().parent:
        raise InputError(
            f"{log_path.name}: its folder is where the edited log would go; choose another --out."
        )

    from inspect_ai.log import read_eval_log, recompute_metrics, write_eval_log
    from inspect_ai.scorer import ScoreEdit

    log = read_eval_log(log_path)
    taken = sum(
        _edit(log, sample.id, sample.epoch, score, ScoreEdit.model_validate(edit))
        for sample in log.samples or ()
        for score, edit in edits.get(names.get((sample.id, sample.epoch), ""), ())
    )
    if taken and log.results:
        recompute_metrics(log)
    target, partial = folder / log_path.name, folder / f"partial-{log_path.name}"
    write_eval_log(log, partial)
    os.replace(partial, target)
    return target, taken


def _edit(log: EvalLog, sample: int | str, epoch: int, name: str, edit: ScoreEdit) -> bool:
    from inspect_ai.log import edit_score

    scores = next(each.scores for each in log.samples or () if (each.id, each.epoch) == (sample, epoch)) or {}
    known = scores[name].history[-1] if name in scores and scores[name].history else None
    ours = known is not None and known.provenance is not None and OURS in known.provenance.metadata
    if known is not None and ours and known.value == edit.value:
        return False
    edit_score(log, sample, name, edit, recompute_metrics=False, epoch=epoch)
    return True
