"""Export people's scores to other tools: Inspect and Label Studio."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter

from coeval.domain import Person, Study
from coeval.errors import InputError
from coeval.extensions.exchange.inspect_logs import render_precomputed
from coeval.extensions.exchange.label_studio_tasks import render_config, render_tasks
from coeval.store.queries import exports
from coeval.store.queries.reports import read
from coeval.usecases.access import Context, require_task
from coeval.usecases.export import Files, OutFormat, read_standing_study


def _build_inspect(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        study = read_standing_study(db, slug)
        units = [(row[0], row[1], float(row[3])) for row in read(db, exports.UNITS, task=require_task(db, slug).id)
                 if row[3] is not None]  # fmt: skip
    system = attrgetter("system")
    by_model = groupby(sorted(study.instances, key=system), system)
    for model, instances in by_model:
        lines = render_precomputed(list(instances), units)
        if lines:
            name = re.sub(r"[^\w.-]+", "_", model) or "all"
            text = (json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            yield f"inspect_scores/{name}.jsonl", text


INSPECT = OutFormat(
    "inspect",
    "Precomputed scores for Inspect (JSON Lines)",
    "People's mean scores for Inspect's scorer precomputed_scores, one file per model.",
    _build_inspect,
)


def _build_label_studio(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        study = read_standing_study(db, slug)
    if not study.instances:
        raise InputError(f"“{slug}” has no instances yet: import some first.")
    yield "label_studio_tasks.json", _as_list(study)
    yield "label_studio_config.xml", [render_config([criterion.scale for criterion in study.criteria])]


def _as_list(study: Study) -> Iterator[str]:
    between = "[\n"
    for task in render_tasks(study):
        yield between + json.dumps(task, ensure_ascii=False)
        between = ",\n"
    yield "\n]\n"


LABEL_STUDIO = OutFormat(
    "label-studio",
    "Label Studio project (JSON)",
    "A task for each instance and criterion, with people's work as annotations and drafts as predictions, "
    "and the labelling configuration. To restore the study, import the files again.",
    _build_label_studio,
)
