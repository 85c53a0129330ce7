"""Use corrections on the dev part as examples for a new run, and for clearer wordings of criteria."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from coeval.domain import CriteriaSet, Criterion, Origin, Person, Proposal, Run, Task
from coeval.errors import InputError, NotFoundError
from coeval.extensions.judge import queries_seal, queries_wordings
from coeval.extensions.judge.fit import choose_run, require_criteria
from coeval.extensions.judge.judge_export import rebuild_settings
from coeval.extensions.judge.learning.prompts import Correction, choose_corrections, make_example
from coeval.extensions.judge.learning.prompts import propose_wording as ask_for_wording
from coeval.extensions.judge.model.judge_file import hide_names
from coeval.extensions.judge.queries_seal import list_dev_reasons
from coeval.extensions.judge.queries_wordings import Wording
from coeval.extensions.judge.seal import get_file_salt, require_seal
from coeval.extensions.judge.seal_types import Part, Seal
from coeval.llm.prompting.questions import Example
from coeval.llm.prompting.template_files import JudgeOptions
from coeval.llm.protocols.protocol import get_protocol
from coeval.rules.ballots import same_words
from coeval.rules.criterion_wording import sharpen_guide
from coeval.store import Database
from coeval.store.queries import criteria, drafts, people, tasks
from coeval.usecases.access import OWNERS, Context, require_task, use_case
from coeval.usecases.criteria_rounds import open_round
from coeval.usecases.drafting.model_requests import MAX_TOKENS, ask_until_new, build_runner
from coeval.usecases.drafting.preparation import prepare_run
from coeval.usecases.drafting.run_settings import RunSettings


def read_corrections(
    db: Database, task: Task, current: CriteriaSet, seal: Seal, run: Run
) -> tuple[Correction, ...]:
    """Return people's scores and reasons for the dev lines that a run has scored, without names."""
    judged = queries_seal.list_judged(db, task.id, current.id, seal, Part.DEV)
    drafted = {
        (line.instance, line.criterion): line.score
        for line in judged
        if line.judge == run.label and line.score is not None
    }
    labels = [
        label
        for label in queries_seal.list_dev_labels(db, task.id, current.id, seal)
        if (label.instance, label.criterion) in drafted
    ]
    reasons = list_dev_reasons(db, task.id, current.id, seal)
    texts = tasks.get_instances_by_external_id(db, task.id, dict.fromkeys(label.instance for label in labels))
    names = list_names(db)
    return tuple(
        Correction(
            label.instance,
            label.document,
            label.criterion,
            texts[label.instance].input,
            texts[label.instance].output,
            drafted[label.instance, label.criterion],
            label.score,
            hide_names(reasons.get((label.person, label.instance, label.criterion), ""), names),
        )
        for label in labels
    )


def list_names(db: Database) -> Collection[str]:
    """Return the names of everybody in the database, which the model must not see."""
    return [person.name for person in people.list_people(db)]


# People choose examples from corrections, check them, and put them into the questions of a new run.

NUMBER, MOST = 4, 8
"""Number of examples per criterion: the default and the maximum."""


@dataclass(frozen=True, slots=True)
class ProposedExample:
    """A correction that can become an example. ``key`` identifies it in ``take_examples``."""

    key: str
    criterion: str
    document: str
    drafted: float
    example: Example

    @property
    def why(self) -> str:
        """Return the reason why it was chosen, in one sentence."""
        score, drafted = self.example.score, self.drafted
        apart = (
            "people agreed with the judge: it shows a score that needs little correction"
            if score == drafted
            else f"{abs(score - drafted):g} from what the judge said"
        )
        said = "with a reason" if self.example.reason else "no reason given"
        return f"The judge said {drafted:g}, people {score:g}: {apart}; {said}."


@use_case(OWNERS)
def propose_examples(
    context: Context, person: Person, slug: str, judge: str = "", number: int = NUMBER
) -> list[ProposedExample]:
    """Return the corrections of the dev part that can become examples for the judge, with reasons.

    Args:
        judge: the label of the corrected run, or "" for the run that annotators see.
        number: the number of examples per criterion, from 1 to 8.

    Raises:
        NotFoundError: the task is not sealed, or has no criteria or no run, or nobody has scored the run's drafts.
        InputError: the number is out of range, or the run takes no examples.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        return _propose(db, task, require_criteria(db, task), _choose_base(db, task, judge), number)


@use_case(OWNERS)
def take_examples(
    context: Context, person: Person, slug: str, keys: Collection[str], judge: str = "", number: int = NUMBER
) -> RunSettings:
    """Create a run with the judge's settings and these examples, and return the settings for drafting it.

    A question shows no example from its own document. Like any other run, it is drafted and can be learned
    from. Learning keeps the examples only if they help.

    Raises:
        NotFoundError, InputError: see ``propose_examples``; or nothing was chosen, or the proposals have changed.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        current, base = require_criteria(db, task), _choose_base(db, task, judge)
        proposed = {item.key: item for item in _propose(db, task, current, base, number)}
        unknown = set(keys) - proposed.keys()
        if unknown:
            raise InputError("The examples for this judge and this number have changed: choose them again.")
        taken = [example for key, example in proposed.items() if key in keys]
        if not taken:
            raise InputError("No example is ticked: tick some, or keep the judge without examples.")
        settings = rebuild_settings(task, current, base)
        settings = replace(settings, label=_name_run(db, task, base, len(taken)))
        run = prepare_run(context, person, slug, settings).run
        stored = [(example.document, example.example.model_dump_json()) for example in taken]
        criteria.record_examples(db, run.id, base.id, stored)
    return settings


def _choose_base(db: Database, task: Task, judge: str) -> Run:
    with_examples = criteria.list_run_examples(db, task.id)
    runs = tuple(run for run in drafts.list_runs(db, task.id) if run.id not in with_examples)
    return choose_run(runs, judge, task.slug)


def _propose(db: Database, task: Task, current: CriteriaSet, base: Run, number: int) -> list[ProposedExample]:
    if not 1 <= number <= MOST:
        raise InputError(f"The number of examples per criterion is {number}: choose from 1 to {MOST}.")
    seal = require_seal(db, task.id, task.slug)
    settings = rebuild_settings(task, current, base)  # refuses imported runs
    protocol = get_protocol(settings.protocol)
    if protocol.compares or protocol.uses_assistants:
        raise InputError(
            f"The protocol {protocol.name} takes no examples: choose a run with another protocol."
        )
    corrections = read_corrections(db, task, current, seal, base)
    if not corrections:
        raise NotFoundError(
            f"Nobody has scored a dev document that “{base.label}” has drafted. Examples need people's "
            "scores, so have some of these documents scrutinised first."
        )
    salt = get_file_salt(seal)
    return [
        _describe(correction, salt)
        for criterion in current.criteria
        for correction in choose_corrections(corrections, criterion.text, number, salt)
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


# From corrections, the model proposes a clearer text for a criterion. The owner accepts or refuses it.


@use_case(OWNERS)
async def propose_wording(
    context: Context,
    person: Person,
    slug: str,
    criterion: str,
    judge: str = "",
    *,
    max_tokens: int | None = MAX_TOKENS,
) -> Wording:
    """Let the model propose a clearer wording of a criterion from people's corrections on the dev part.

    A proposal changes nothing until the owner accepts it. If one is open for the criterion, it is returned. The model
    is asked again only after the owner's decision.

    Args:
        criterion: the criterion's text.
        judge: the label of the corrected run, or "" for the run that annotators see.

    Raises:
        ModelError: no model is set up, it cannot be reached, or its answer is unreadable.
        NotFoundError: the task is not sealed, or has no such criterion or no run.
        InputError: nobody corrected a score on this criterion, or the model proposes no change.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        seal, current = require_seal(db, task.id, slug), require_criteria(db, task)
        chosen = _find_criterion(current, criterion, slug)
        run = choose_run(tuple(drafts.list_runs(db, task.id)), judge, slug)
        corrections = read_corrections(db, task, current, seal, run)
        before = [item for item in queries_wordings.list_wordings(db, task.id) if item.criterion == chosen.id]
        still_open = _find_open(db, task, chosen)
    if still_open is not None:
        return still_open
    model = context.settings.model
    options = JudgeOptions(model, max_tokens=max_tokens)
    async with build_runner(context, concurrency=1) as runner:
        made = await ask_until_new(
            runner, lambda ask: ask_for_wording(ask, task, chosen, corrections, options, sample=len(before))
        )
    if not made.changes:
        raise InputError(
            f"The model has read the corrections and would not change “{chosen.text[:80]}”"
            + (f": {made.why}" if made.why else ".")
        )
    wording = Wording(
        chosen.id, chosen.text, made.text, made.anchors, made.why, model, proposed_by=person.name
    )
    with context.store.write() as db:
        # another person may have requested a proposal in the meantime
        return _find_open(db, task, chosen) or queries_wordings.add_wording(db, task.id, wording)


def _find_open(db: Database, task: Task, criterion: Criterion) -> Wording | None:
    """Return the open wording of a criterion."""
    wordings = queries_wordings.list_wordings(db, task.id)
    return next((item for item in wordings if item.criterion == criterion.id and item.taken is None), None)


def _find_criterion(current: CriteriaSet, text: str, slug: str) -> Criterion:
    match = next((criterion for criterion in current.criteria if criterion.text == text), None)
    if match is None:
        raise NotFoundError(
            f"The criteria of “{slug}” do not include “{text[:60]}”: choose a criterion of the set."
        )
    return match


@use_case(OWNERS)
def take_wording(context: Context, person: Person, slug: str, wording: int) -> bool:
    """Accept a proposed wording, and return whether this opened a vote.

    A new text replaces the old one in the vote on the next version of the criteria. Once established, it keeps the
    scale and the guide of the old criterion and adds the proposed meanings. If only meanings of scores are proposed,
    they are added to the criterion's guide immediately.

    Raises:
        NotFoundError: there is no such wording, or its criterion is no longer in force.
        InputError: it was decided already, people have voted in the open vote, or that vote has no such criterion.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        taken, current = _require_open(db, task, wording), require_criteria(db, task)
        criterion = next((item for item in current.criteria if item.id == taken.criterion), None)
        if criterion is None:
            raise NotFoundError(
                f"“{taken.before[:80]}” is no longer in the criteria set: have the model examine its "
                "successor."
            )
        queries_wordings.decide_wording(db, wording, person.name, taken=True)
        if same_words(taken.text) == same_words(criterion.text):
            criteria.record_guide(
                db, criterion.id, sharpen_guide(criterion.guide, taken.anchors), person.name
            )
            return False
        # the vote finds this criterion by its text, and keeps its scale and guide
        guide = sharpen_guide(criterion.guide, taken.anchors)
        new = Criterion(taken.text, criterion.name, Origin.LLM, criterion.scale, guide=guide)
        criteria.ensure_criterion(db, task.id, new)
        head = criteria.get_round(db, task.id)
        proposals = _put_in_place(db, task, current, taken)
        open_round(context, person, slug, proposals, instead_of=head["id"] if head else None)
    return True


@use_case(OWNERS)
def leave_wording(context: Context, person: Person, slug: str, wording: int) -> None:
    """Refuse a proposed wording. The proposal stays on record.

    Raises:
        NotFoundError: there is no such wording.
        InputError: it was decided already.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        _require_open(db, task, wording)
        queries_wordings.decide_wording(db, wording, person.name, taken=False)


def _require_open(db: Database, task: Task, wording: int) -> Wording:
    proposal = queries_wordings.get_wording(db, task.id, wording)
    if proposal is None:
        raise NotFoundError(f"“{task.slug}” has no proposed wording {wording}: reload the page.")
    if proposal.taken is not None:
        raise InputError(
            f"That wording was already {'taken' if proposal.taken else 'left'}: reload the page."
        )
    return proposal


def _put_in_place(db: Database, task: Task, current: CriteriaSet, taken: Wording) -> list[Proposal]:
    """Return the criteria of the open vote or the current set, with the new wording instead of the old."""
    head = criteria.get_round(db, task.id)
    if head and head["open"] and (ballots := criteria.list_ballots(db, head["id"])):
        who = "1 person has" if len(ballots) == 1 else f"{len(ballots)} people have"
        raise InputError(f"{who} voted on the next version: establish or cancel that vote first.")
    voted = (
        criteria.list_proposals(db, head["id"])
        if head and head["open"]
        else [Proposal(criterion.text, criterion.origin) for criterion in current.criteria]
    )
    if not any(item.text == taken.before for item in voted):
        raise InputError(
            f"“{taken.before[:80]}” is not among the criteria of the open vote: end the vote first, or "
            "propose the wording there."
        )
    note = "a sharper wording from people's corrections"
    new = Proposal(taken.text, Origin.LLM, note=note)
    return [new if item.text == taken.before else item for item in voted]
