"""Statistics of a task. Submissions are read once, and results are cached until there are new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from coeval import CITATION, __version__
from coeval.domain import Person
from coeval.errors import InputError
from coeval.safe_csv import to_csv
from coeval.stats.basis import UNAIDED, Basis, OnBasis, list_choices
from coeval.stats.frames import StudyFrames
from coeval.stats.report.document import build_report, paper_tables
from coeval.stats.report.methods import methods_paragraph
from coeval.stats.report.tables import show_tags, tables_latex, tables_markdown
from coeval.store.queries import criteria, reports
from coeval.usecases.access import TEAM, Context, require_task, use_case
from coeval.usecases.reports.report_cache import Reading, Readings, get_readings
from coeval.usecases.reports.report_process import HelperEndedError
from coeval.usecases.reports.task_frames import MORE

EVERY = tuple(MORE)
WHOLE = Basis()
"""All scores for the newest version of the criteria."""


@use_case(TEAM)
def get_reading(
    context: Context, person: Person, slug: str, *, newest: bool = False, version: int = 0
) -> Reading:
    """Return the statistics of a task at one moment; for a large task, they may lack the latest saves.

    Args:
        version: of the criteria set; 0 or an unknown version means the newest.
    """
    if version not in list_versions(context, person, slug)[:-1]:
        return _get_reading(context, slug, newest=newest)
    with context.store.read() as db:
        task = require_task(db, slug)
        fingerprint = reports.get_fingerprint(db, task.id)
    return get_readings(context.store).get_earlier(task, fingerprint, version)


@use_case(TEAM)
def list_versions(context: Context, person: Person, slug: str) -> list[int]:
    """Return the versions of a task's criteria, the newest last."""
    with context.store.read() as db:
        newest = criteria.get_criteria_set(db, require_task(db, slug).id)
        return list(range(1, newest.version + 1)) if newest else []


@use_case(TEAM)
def get_frames(context: Context, person: Person, slug: str) -> StudyFrames:
    """Return a task's scores, actions and drafts, as the statistics use them."""
    return _get_reading(context, slug, newest=True).read_frames(EVERY)


def get_statistic(
    context: Context,
    person: Person,
    slug: str,
    statistic: Callable[[StudyFrames], Any],
    *,
    tables: Sequence[str] = (),
) -> Any:
    """Return a statistic of a task from its reading, recomputed only after new saves.

    Args:
        statistic: a pure function of the frames, defined in a module.
        tables: the tables of ``MORE`` that it uses; all others are empty.

    Raises:
        NotAllowedError: the person does not belong to the team.
    """
    try:
        return get_reading(context, person, slug).get(statistic, tuple(tables))
    except HelperEndedError:
        return get_reading(context, person, slug, newest=True).get(statistic, tuple(tables))


@use_case(TEAM)
def get_report(context: Context, person: Person, slug: str, basis: Basis = WHOLE) -> dict[str, Any]:
    """Return every statistic of a task in one document, as ``stats --json`` prints it.

    Args:
        basis: the scores that it is based on. The section that compares arms (``drafts``) uses all scores.

    Raises:
        InputError: the criteria have no such version, or nobody has scored in the arm.
    """
    versions = list_versions(context, person, slug)
    if basis.version and basis.version not in versions:
        raise InputError(
            f"“{slug}” has no version {basis.version} of its criteria; there are: "
            f"{', '.join(map(str, versions)) or 'none yet'}."
        )
    reading = get_reading(context, person, slug, newest=True, version=basis.version)
    whole: dict[str, Any] = reading.get(build_report, EVERY)
    if not basis.cuts:
        return whole
    choices = reading.get(list_choices)
    arms = [*choices.arms, *([UNAIDED] if choices.unaided else [])]
    if basis.arm and basis.arm not in arms:
        raise InputError(
            f"Nobody scored “{slug}” in the arm “{basis.arm[:40]}”; arms with scores: {', '.join(arms) or 'none yet'}."
        )
    cut: dict[str, Any] = reading.get(OnBasis(build_report, basis), EVERY)
    return cut | {"drafts": whole["drafts"]}


@use_case(TEAM)
def get_paper_tables(context: Context, person: Person, slug: str) -> dict[str, str | pd.DataFrame]:
    """Return the paper's tables and methods paragraph: a text or CSV data for each file name."""
    reading = get_reading(context, person, slug, newest=True)
    texts: dict[str, str | pd.DataFrame] = reading.compute(write_paper_tables, EVERY)
    return texts


def write_paper_tables(frames: StudyFrames) -> dict[str, str | pd.DataFrame]:
    """Return the paper's tables and methods paragraph: a text or CSV data for each file name."""
    tables = paper_tables(frames)
    texts: dict[str, str | pd.DataFrame] = {
        "methods.md": show_tags(methods_paragraph(frames, build_report(frames)))
        + f"\n\nThe study was made with CoEval {__version__}.\n\n```bibtex\n{CITATION}```\n",
        "tables.md": tables_markdown(tables),
        "tables.tex": tables_latex(tables),
    }
    return texts | {f"{table.name}.csv": table.frame for table in tables}


@use_case(TEAM)
def get_table_files(context: Context, person: Person, slug: str, kind: str) -> dict[str, str]:
    """Return the paper's tables as csv, md or latex: a text for each file name.

    Raises:
        InputError: ``kind`` is none of these.
    """
    tables = get_paper_tables(context, person, slug)
    if kind == "csv":
        return {name: to_csv(frame) for name, frame in tables.items() if isinstance(frame, pd.DataFrame)}
    names = {"md": ("methods.md", "tables.md"), "latex": ("tables.tex",)}.get(kind)
    if names is None:
        raise InputError(f"There is no format “{kind}” for tables; choose csv, md or latex.")
    return {name: str(tables[name]) for name in names}


def compute_apart(context: Context) -> Readings:
    """Compute large reports in separate processes from now on, as a server does."""
    readings = get_readings(context.store)
    readings.compute_apart()
    return readings


def _get_reading(context: Context, slug: str, *, newest: bool = False) -> Reading:
    with context.store.read() as db:
        task = require_task(db, slug)
        fingerprint = reports.get_fingerprint(db, task.id)
    return get_readings(context.store).get(task, fingerprint, newest=newest)
