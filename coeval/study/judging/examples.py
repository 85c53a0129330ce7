"""Examples from corrections: chosen, looked at, and taken into the questions of a run of their own."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from coeval.domain import CriteriaSet, Person, Run, Task
from coeval.errors import InputError, NotFoundError
from coeval.judge.learning.examples import Correction, choose_corrections, make_example
from coeval.judge.parts import Example
from coeval.llm.protocols.registry import get_protocol
from coeval.store import Database
from coeval.store.queries.drafting import drafts
from coeval.store.queries.judging import corrections
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.drafting.preparing import prepare_run
from coeval.study.drafting.run_settings import RunSettings
from coeval.study.judging.correcting import read_corrections
from coeval.study.judging.fitting import choose_run, require_criteria
from coeval.study.judging.hashing import get_file_salt
from coeval.study.judging.rebuilding import rebuild_settings
from coeval.study.judging.sealing import require_seal

NUMBER, MOST = 4, 8
"""Examples by a criterion: as chosen by default, and at most."""


@dataclass(frozen=True, slots=True)
class ProposedExample:
    """A correction that would make an example. ``key`` names it where it is taken."""

    key: str
    criterion: str
    document: str
    drafted: float
    example: Example

    @property
    def why(self) -> str:
        """Why it was chosen, in a sentence."""
        given, drafted = self.example.score, self.drafted
        apart = (
            "people agreed with the judge: it shows the score where there is little to correct"
            if given == drafted
            else f"{abs(given - drafted):g} from what the judge said"
        )
        said = "with a reason" if self.example.reason else "no reason was given"
        return f"The judge said {drafted:g}, people {given:g}: {apart}; {said}."


@use_case(OWNERS)
def propose_examples(
    context: Context, person: Person, slug: str, judge: str = "", number: int = NUMBER
) -> list[ProposedExample]:
    """See which corrections of the dev part would make examples for the judge's questions, and why.

    Args:
        judge: the label of the run that was corrected; empty for the one that annotators see.
        number: by each criterion, from 1 to 8.

    Raises:
        NotFoundError: the task is not sealed, or has no criteria or no run.
        InputError: the number cannot be, the run takes no examples, or nobody has scored what it drafted.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        return _propose(db, task, require_criteria(db, task), _choose_base(db, task, judge), number)


@use_case(OWNERS)
def take_examples(
    context: Context, person: Person, slug: str, keys: Collection[str], judge: str = "", number: int = NUMBER
) -> RunSettings:
    """Open a run that asks as the judge did, with these examples in its questions; gives what to draft it with.

    A question shows none of the examples that are from its own document. The run is one like others: once it is
    drafted, learning from it keeps the examples only where they help.

    Raises:
        NotFoundError, InputError: see ``propose_examples``; or nothing was chosen, or the choice is another by now.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        current, base = require_criteria(db, task), _choose_base(db, task, judge)
        proposed = {one.key: one for one in _propose(db, task, current, base, number)}
        unknown = set(keys) - proposed.keys()
        if unknown:
            raise InputError(
                "These are not the examples of this judge and number any more: choose them again."
            )
        taken = [one for key, one in proposed.items() if key in keys]
        if not taken:
            raise InputError("No example is ticked: tick those to take, or leave the judge without any.")
        settings = rebuild_settings(task, current, base)
        settings = replace(settings, label=_name_run(db, task, base, len(taken)))
        run = prepare_run(context, person, slug, settings).run
        stored = [(one.document, one.example.model_dump_json()) for one in taken]
        corrections.record_examples(db, run.id, base.id, stored)
    return settings


def _choose_base(db: Database, task: Task, judge: str) -> Run:
    with_examples = corrections.list_run_examples(db, task.id)
    runs = tuple(run for run in drafts.list_runs(db, task.id) if run.id not in with_examples)
    return choose_run(runs, judge, task.slug)


def _propose(db: Database, task: Task, current: CriteriaSet, base: Run, number: int) -> list[ProposedExample]:
    if not 1 <= number <= MOST:
        raise InputError(f"{number} examples by a criterion cannot be shown: choose from 1 to {MOST}.")
    seal = require_seal(db, task.id, task.slug)
    settings = rebuild_settings(task, current, base)  # refuses what did not ask here
    protocol = get_protocol(settings.protocol)
    if protocol.compares or protocol.uses_assistants:
        raise InputError(f"The protocol {protocol.name} takes no examples: choose a run of another one.")
    known = read_corrections(db, task, current, seal, base)
    if not known:
        raise NotFoundError(
            f"Nobody has scored a document of the dev part that “{base.label}” has drafted: examples are made of "
            "people's scores, so have some scrutinised first."
        )
    salt = get_file_salt(seal)
    return [
        _describe(correction, salt)
        for criterion in current.criteria
        for correction in choose_corrections(known, criterion.text, number, salt)
    ]


def _describe(correction: Correction, salt: str) -> ProposedExample:
    example = make_example(correction, salt)
    key = f"{correction.instance} · {correction.score:g} · {correction.criterion}"
    return ProposedExample(key, correction.criterion, correction.document, correction.drafted, example)


def _name_run(db: Database, task: Task, base: Run, number: int) -> str:
    plain = f"{base.label} · {number} example{'s' if number > 1 else ''}"
    taken = {run.label for run in drafts.list_runs(db, task.id)}
    names = (plain, *(f"{plain} ({n})" for n in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)
