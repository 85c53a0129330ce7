"""Wordings from corrections: the model proposes a sharper text of a criterion, and the owner takes or leaves it."""

from __future__ import annotations

from coeval.domain import CriteriaSet, Criterion, Origin, Person, Proposal, Task
from coeval.domain.seals import Wording
from coeval.errors import InputError, NotFoundError
from coeval.judge.learning.wording import propose_wording as ask_for_wording
from coeval.llm.presets.wordings import find_templates
from coeval.rules.ballots import same_words
from coeval.rules.criterion_guides import sharpen_guide
from coeval.store import Database
from coeval.store.queries import criteria
from coeval.store.queries.drafting import drafts
from coeval.store.queries.judging import corrections
from coeval.study.access import OWNERS, Context, require_task, use_case
from coeval.study.criteria.rounds import open_round
from coeval.study.drafting.endpoint import ask_until_new, build_runner
from coeval.study.judging.correcting import read_corrections
from coeval.study.judging.fitting import choose_run, require_criteria
from coeval.study.judging.sealing import require_seal


@use_case(OWNERS)
async def propose_wording(
    context: Context,
    person: Person,
    slug: str,
    criterion: str,
    judge: str = "",
    *,
    model: str = "",
    templates: str = "",
) -> Wording:
    """Have the model read what people corrected on the dev part by a criterion, and propose a sharper wording.

    It changes nothing: the owner takes it or leaves it. Where one is open for the criterion, that one is given; after
    it was decided the model is asked anew.

    Args:
        criterion: its text.
        judge: the label of the run that was corrected; empty for the one that annotators see.
        templates: a folder with your copy of wording.md.

    Raises:
        ModelError: no model is set up, it cannot be reached, or its answer cannot be read.
        NotFoundError: the task is not sealed, or has no such criterion or no run.
        InputError: nobody corrected anything by it, or the model would leave it as it is.
    """
    with context.store.read() as db:
        task = require_task(db, slug)
        seal, current = require_seal(db, task.id, slug), require_criteria(db, task)
        chosen = _find_criterion(current, criterion, slug)
        run = choose_run(tuple(drafts.list_runs(db, task.id)), judge, slug)
        known = read_corrections(db, task, current, seal, run)
        before = [one for one in corrections.list_wordings(db, task.id) if one.criterion == chosen.id]
        still_open = _find_open(db, task, chosen)
    if still_open is not None:
        return still_open
    named = model or context.settings.model
    async with build_runner(context, concurrency=1) as runner:
        made = await ask_until_new(
            runner,
            lambda ask: ask_for_wording(
                ask, task, chosen, known, named, find_templates(templates), sample=len(before)
            ),
        )
    if not made.changes:
        raise InputError(
            f"The model has read the corrections and would leave “{chosen.text[:80]}” as it is"
            + (f": {made.why}" if made.why else ".")
        )
    wording = Wording(
        chosen.id, chosen.text, made.text, made.anchors, made.why, named, proposed_by=person.name
    )
    with context.store.write() as db:
        # somebody else may have had one proposed while this model was reading
        return _find_open(db, task, chosen) or corrections.add_wording(db, task.id, wording)


def _find_open(db: Database, task: Task, criterion: Criterion) -> Wording | None:
    """The wording of a criterion that is still to be taken or left."""
    known = corrections.list_wordings(db, task.id)
    return next((one for one in known if one.criterion == criterion.id and one.taken is None), None)


def _find_criterion(current: CriteriaSet, text: str, slug: str) -> Criterion:
    found = next((one for one in current.criteria if one.text == text), None)
    if found is None:
        raise NotFoundError(f"The criteria of “{slug}” have no “{text[:60]}”: choose one of the set.")
    return found


@use_case(OWNERS)
def take_wording(context: Context, person: Person, slug: str, wording: int) -> bool:
    """Take a proposed wording; whether a vote was opened on it.

    A new text is put to the vote for the next version of the criteria, in the place of the old one; once established
    it is a criterion like any other, with the scale and the guide of the old one and the meanings proposed. Where only
    meanings of scores are proposed, they stand in the criterion's guide at once.

    Raises:
        NotFoundError: there is no such wording, or its criterion is not in force any more.
        InputError: it was decided already, people have voted in the vote that is open, or that has no such criterion.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        taken, current = _require_open(db, task, wording), require_criteria(db, task)
        criterion = next((one for one in current.criteria if one.id == taken.criterion), None)
        if criterion is None:
            raise NotFoundError(
                f"“{taken.before[:80]}” is not in force any more: have its successor looked at."
            )
        corrections.decide_wording(db, wording, person.name, taken=True)
        if same_words(taken.text) == same_words(criterion.text):
            criteria.record_guide(
                db, criterion.id, sharpen_guide(criterion.guide, taken.anchors), person.name
            )
            return False
        open_round(context, person, slug, _put_in_place(db, task, current, taken))
    return True


@use_case(OWNERS)
def leave_wording(context: Context, person: Person, slug: str, wording: int) -> None:
    """Leave a criterion as it is; what was proposed stays on record.

    Raises:
        NotFoundError: there is no such wording.
        InputError: it was decided already.
    """
    with context.store.write() as db:
        task = require_task(db, slug)
        _require_open(db, task, wording)
        corrections.decide_wording(db, wording, person.name, taken=False)


def _require_open(db: Database, task: Task, wording: int) -> Wording:
    found = corrections.get_wording(db, task.id, wording)
    if found is None:
        raise NotFoundError(f"“{task.slug}” has no proposed wording {wording}: reload the page.")
    if found.taken is not None:
        raise InputError(f"That wording was {'taken' if found.taken else 'left'} already: reload the page.")
    return found


def _put_in_place(db: Database, task: Task, current: CriteriaSet, taken: Wording) -> list[Proposal]:
    """The criteria being voted on, or those in force, with the new wording in the place of the old."""
    head = criteria.get_round(db, task.id)
    if head and head["open"] and (ballots := criteria.list_ballots(db, head["id"])):
        who = "1 person has" if len(ballots) == 1 else f"{len(ballots)} people have"
        raise InputError(f"{who} voted on the next version: establish or cancel that vote first.")
    voted = (
        criteria.list_proposals(db, head["id"])
        if head and head["open"]
        else [Proposal(one.text, one.origin) for one in current.criteria]
    )
    if not any(one.text == taken.before for one in voted):
        raise InputError(
            f"“{taken.before[:80]}” is not among the criteria of the open vote: end that vote first, or propose the "
            "wording there."
        )
    note = "a sharper wording from people's corrections"
    new = Proposal(taken.text, Origin.LLM, note=note)
    return [new if one.text == taken.before else one for one in voted]
