"""Export people's scores to other tools: Every Eval Ever, Inspect, Label Studio.

The schema is https://github.com/evaleval/every_eval_ever (eval.schema.json, 0.2.1). Its file for single instances is
not written, because it requires a correct-or-not value for each, which a rating on a scale does not give.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import coeval
from coeval.clock import now, utc_now
from coeval.domain import (
    CriteriaSet,
    Criterion,
    Person,
    Run,
    Study,
    Task,
)
from coeval.errors import InputError
from coeval.extensions.exchange.inspect_logs import edit_log, render_edit
from coeval.extensions.exchange.label_studio_tasks import render_config, render_tasks
from coeval.store import Database
from coeval.store.queries import criteria, drafts, exports, tasks
from coeval.store.queries.reports import read
from coeval.usecases.access import Context, require_task
from coeval.usecases.out_format import Files, OutFormat
from coeval.usecases.standing_study import read_standing_study

if TYPE_CHECKING:
    from coeval.stats.report.systems import CriterionMean


EVERY_EVAL_EVER_VERSION = "0.2.1"
NOT_STATED = "not stated"


def _build_every_eval_ever(context: Context, person: Person, slug: str) -> Files:
    # imported late, because every start of the command line lists the formats
    from coeval.stats.report.systems import criterion_means
    from coeval.usecases.reports.statistics import get_statistic

    means: Sequence[CriterionMean] = get_statistic(context, person, slug, criterion_means)
    with context.store.read() as db:
        task = require_task(db, slug)
        current = criteria.get_criteria_set(db, task.id)
        runs = {run.label: run for run in drafts.list_runs(db, task.id)}
        n_instances = tasks.count_instances(db, task.id)
    for system in dict.fromkeys(cell.system for cell in means):
        cells = [cell for cell in means if cell.system == system]
        record = _record(task, current, runs, n_instances, system or NOT_STATED, cells)
        yield _place(task, system or NOT_STATED), [json.dumps(record, ensure_ascii=False, indent=1), "\n"]


def _place(task: Task, system: str) -> str:
    """Return the path ``TASK/DEVELOPER/MODEL.json`` that Every Eval Ever uses; a hash separates similar names."""
    *developer, model = [re.sub(r"[^\w.-]+", "_", part).strip("._") or "_" for part in system.split("/")][-2:]
    mark = hashlib.sha256(system.encode()).hexdigest()[:8]
    return f"{task.slug}/{developer[0] if developer else 'unknown'}/{model[:80]}-{mark}.json"


def _record(
    task: Task,
    current: CriteriaSet | None,
    runs: Mapping[str, Run],
    n_instances: int,
    system: str,
    cells: Sequence[CriterionMean],
) -> dict[str, Any]:
    stamp = f"{utc_now().timestamp():.0f}"
    known = {criterion.text: criterion for criterion in current.criteria} if current else {}
    return {
        "schema_version": EVERY_EVAL_EVER_VERSION,
        "evaluation_id": f"{task.slug}/{system}/{stamp}",
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": task.name,
            "source_type": "evaluation_run",
            "source_organization_name": NOT_STATED,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "coeval", "version": coeval.__version__},
        "model_info": {"name": system, "id": system},
        "evaluation_results": [
            _result(task, known[cell.criterion], runs.get(cell.run), n_instances, cell)
            for cell in cells
            if cell.criterion in known
        ],
    }


def _result(
    task: Task, criterion: Criterion, run: Run | None, n_instances: int, cell: CriterionMean
) -> dict[str, Any]:
    metric: dict[str, Any] = {
        "evaluation_description": criterion.text,
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": criterion.scale.low,
        "max_score": criterion.scale.high,
    }
    if run is not None:
        metric["llm_scoring"] = {
            "judges": [{"model_info": {"name": run.model, "id": run.model}}],
            "input_prompt": f"CoEval protocol {run.protocol}, template {run.prompt_hash or NOT_STATED}",
        }
    name = criterion.name or criterion.text
    return {
        "evaluation_name": f"{name} (judge: {run.label})" if run else name,
        "source_data": {
            "dataset_name": task.name,
            "source_type": "other",
            "additional_details": {"instances": str(n_instances)},
        },
        "metric_config": metric,
        "score_details": {
            "score": cell.mean.value,
            "details": {"scored_by": f"judge {run.label}" if run else "people"}
            | ({} if run else {"people_per_output_at_most": str(cell.n_people)}),
            "uncertainty": _uncertainty(cell),
        },
    }


def _uncertainty(cell: CriterionMean) -> dict[str, Any]:
    """Return the measures of uncertainty that are defined."""
    more = cell.mean.details
    told: dict[str, Any] = {"num_samples": cell.n_units}
    if math.isfinite(cell.deviation):
        told["standard_deviation"] = cell.deviation
    if _is_number(more.get("se")):
        told["standard_error"] = {"value": more["se"], "method": str(more["interval_kind"])}
    if _is_number(more.get("ci_low")) and _is_number(more.get("ci_high")):
        told["confidence_interval"] = {
            "lower": more["ci_low"],
            "upper": more["ci_high"],
            "confidence_level": more["confidence"],
            "method": str(more["interval_kind"]),
        }
    return told


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


EVERY_EVAL_EVER = OutFormat(
    "every-eval-ever",
    "Every Eval Ever (JSON)",
    "A file for each system in the EvalEval coalition's schema: its mean score on each criterion, by people "
    "and by each judge, with intervals.",
    _build_every_eval_ever,
)


INSPECT_EDITS_FILE = "inspect_score_edits.jsonl"


def _build_inspect_edits(context: Context, person: Person, slug: str) -> Files:
    with context.store.read() as db:
        yield INSPECT_EDITS_FILE, _lines(db, require_task(db, slug).id, slug)


def _lines(db: Database, task: int, slug: str) -> Iterator[str]:
    """Yield a line for each counted instance and criterion that people scored."""
    at = now()
    for (instance, criterion), rows in groupby(
        read(db, exports.UNITS, task=task), lambda row: (row[0], row[1])
    ):
        scores = [float(score) for *_, score in rows if score is not None]
        if scores:
            yield json.dumps(render_edit(slug, instance, criterion, scores, at), ensure_ascii=False) + "\n"


INSPECT_EDITS = OutFormat(
    "inspect",
    "Score edits for Inspect (JSON Lines)",
    "People's mean score for each instance and criterion as a ScoreEdit. On the command line, --logs writes "
    "the edits into copies of the original logs.",
    _build_inspect_edits,
    edit_log=edit_log,
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
