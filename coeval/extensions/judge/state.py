"""A task's progress towards a judge, for the tab: counts and results without sealed scores."""

from __future__ import annotations

from dataclasses import dataclass

from coeval.domain import Arm, CriteriaSet, Criterion, Person, Run, Task
from coeval.errors import NotFoundError
from coeval.extensions.judge import queries_seal, queries_wordings
from coeval.extensions.judge.bridge.schema import Bridge
from coeval.extensions.judge.bridges import find_bridge, name_bridge
from coeval.extensions.judge.certificate.frozen_judge import FrozenJudge
from coeval.extensions.judge.certificate.schema import Certificate
from coeval.extensions.judge.deferred_lines import Deferred, find_deferred
from coeval.extensions.judge.fit import read_frozen
from coeval.extensions.judge.judge_export import asked_here
from coeval.extensions.judge.queries_wordings import Wording
from coeval.extensions.judge.seal import require_seal
from coeval.extensions.judge.seal_types import Opening, Part, Seal
from coeval.store import Database
from coeval.store.queries import criteria, drafts
from coeval.usecases.access import TEAM, Context, require_task, use_case
from coeval.usecases.scrutiny.policies import Asking, get_asking


@dataclass(frozen=True)
class JudgeState:
    """The progress of a task. ``documents`` counts documents by part.

    ``counts`` has (people, documents, scores) by part and arm. ``certificates`` are in the order of their openings.
    ``imported`` are the judge's imported members, and ``with_examples`` the ids of runs whose questions show examples.
    ``fitted`` has (id, name, time) of all fitted judges, and ``bridge`` is the newest bridge between two of them.
    ``asking`` is the current request that limits the team's work, and ``deferred`` are the lines for people if the
    judge has a threshold. ``wordings`` are the open proposals for current criteria.
    """

    seal: Seal | None
    documents: dict[Part, int]
    counts: dict[tuple[Part, Arm], tuple[int, int, int]]
    n_documents: int
    runs: tuple[Run, ...]
    frozen: FrozenJudge | None
    fitted_at: str
    openings: tuple[Opening, ...]
    certificates: tuple[Certificate, ...]
    criteria: tuple[Criterion, ...] = ()
    imported: tuple[Run, ...] = ()
    asking: Asking | None = None
    with_examples: frozenset[int] = frozenset()
    deferred: Deferred | None = None
    wordings: tuple[Wording, ...] = ()
    fitted: tuple[tuple[int, str, str], ...] = ()
    bridge: Bridge | None = None


@use_case(TEAM)
def get_judge_state(context: Context, person: Person, slug: str) -> JudgeState:
    """Return a task's progress towards a judge: the split, the learned steps and the certificates."""
    with context.store.read() as db:
        task = require_task(db, slug)
        seal, current = queries_seal.get_seal(db, task.id), criteria.get_criteria_set(db, task.id)
        total = len(queries_seal.list_strata(db, task.id))
        runs = tuple(drafts.list_runs(db, task.id))
        if seal is None:
            return JudgeState(None, {}, {}, total, runs, None, "", (), ())
        fitted, openings = queries_seal.list_fitted(db, seal.id), queries_seal.list_openings(db, seal.id)
        stored = fitted[-1] if fitted else None
        frozen = read_frozen(stored) if stored else None
        heard = frozen.members if frozen else ()
        return JudgeState(
            seal,
            queries_seal.count_parts(db, seal.id),
            queries_seal.count_labels(db, task.id, current.id, seal) if current else {},
            total,
            runs,
            frozen,
            stored.fitted_at if stored else "",
            tuple(openings),
            tuple(_read_certificate(db, seal, judge) for judge in openings if judge.certificate),
            current.criteria if current else (),
            tuple(run for run in runs if run.label in heard and not asked_here(run)),
            get_asking(db, task.id),
            frozenset(criteria.list_run_examples(db, task.id)),
            find_deferred(db, task, current, frozen)
            if current and frozen and frozen.fitted.deferral
            else None,
            _list_open(db, task, current),
            tuple((judge.id, read_frozen(judge).judge, judge.fitted_at) for judge in fitted),
            find_bridge(db, seal),
        )


def _read_certificate(db: Database, seal: Seal, opening: Opening) -> Certificate:
    return name_bridge(db, seal, Certificate.model_validate_json(opening.certificate))


def _list_open(db: Database, task: Task, current: CriteriaSet | None) -> tuple[Wording, ...]:
    ids = {criterion.id for criterion in current.criteria} if current else set()
    wordings = queries_wordings.list_wordings(db, task.id)
    return tuple(item for item in wordings if item.taken is None and item.criterion in ids)


@use_case(TEAM)
def get_certificate(context: Context, person: Person, slug: str, number: int = 0) -> Certificate:
    """Return the certificate of the opening with this number, or the newest one.

    Raises:
        NotFoundError: the task is not sealed, or there is no such certificate.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        seal = require_seal(db, task.id, slug)
        openings = queries_seal.list_openings(db, seal.id)
        written = [opening for opening in openings if opening.certificate and number in (0, opening.number)]
        if written:
            return _read_certificate(db, seal, written[-1])
    raise NotFoundError(
        f"There is no certificate of opening {number} of “{slug}”."
        if number
        else f"“{slug}” has no certificate yet."
    )
