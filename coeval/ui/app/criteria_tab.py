"""The Criteria tab: the task card, the ballot, and for owners the tally and the final decisions."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import gradio as gr

from coeval.domain import Job, Origin, Person, Proposal, Role, Task
from coeval.language import get_spoken, later
from coeval.llm.prompting.presets import get_preset
from coeval.rules.ballots import Tally
from coeval.ui.app import criteria_views as views
from coeval.ui.app.criteria_boxes import CancelBox, GuideBox, JobBox, OtherVotesBox, ReplaceBox, build_parts
from coeval.ui.components.next_step import steps_line
from coeval.ui.components.view import Node
from coeval.ui.tabs import Form, StudyTab, Update, need_task, tell_done
from coeval.usecases import criteria_rounds, criteria_sets, tasks
from coeval.usecases.access import Context
from coeval.usecases.criteria_rounds import RoundState
from coeval.usecases.criteria_sets import (
    list_drafted,
    reopen_criteria,
)
from coeval.usecases.drafting import jobs

LINES, SUGGESTED, OTHER, AGREED = "lines", "suggested", "other", "agreed"
"""The ways to open a vote, and the consent to one of them."""


NOTHING: dict[str, Any] = {"value": []}
"""The value of a group of checkboxes without a choice."""


class CriteriaTab(StudyTab):
    """The vote on the criteria: each event calls a use case, then shows the current tab."""

    title, id = later("Criteria"), "criteria"

    @classmethod
    def is_wanted(cls, context: Context, person: Person, slug: str) -> bool:
        """Return whether to show the tab: annotators see it when there is a vote."""
        if person.role is not Role.ANNOTATOR or not slug:
            return True
        round_ = criteria_rounds.get_round(context, person, slug)
        return round_ is not None and round_.open

    def build(self) -> None:
        self.parts = parts = build_parts(self.context)
        self.guide, self.cancel = GuideBox(), CancelBox()
        self.others, self.replace = OtherVotesBox(), ReplaceBox()
        plain_parts = [part for part in parts.all() if not isinstance(part, (Form, JobBox))]
        self.outputs = [*plain_parts, *parts.job.outputs, *self.guide.outputs, *self.cancel.outputs]
        self.outputs += [*self.others.outputs, *self.replace.outputs]
        chosen = [self.guide.criterion]
        self.on(self.guide.criterion.input, self.on_guide, chosen, self.guide.texts)
        self.on(self.guide.save.click, self.on_guide_save, [*chosen, *self.guide.texts])
        # both save through their own routes, and the rest of the tab is then updated
        self.on(parts.ballot.submit, self.load, [])
        self.on(parts.decisions.submit, self.load, [])
        self.on(parts.use.click, self.on_use, [self.cancel.round])
        self.on(self.cancel.cancel.click, self.on_cancel, [self.cancel.round])
        votes = [self.replace.asked, parts.lines, parts.suggested, self.others.round]
        for event, action in (
            (parts.open_vote.click, LINES),
            (parts.reopen.click, SUGGESTED),
            (self.others.take_up.click, OTHER),
            (self.replace.go.click, AGREED),
        ):
            self.on(event, partial(self.on_vote, action=action), votes)
        self.on(self.replace.keep.click, self.on_keep)
        self.on(parts.draft.click, self.on_draft, [parts.model, *parts.ideation.inputs])
        shown = [parts.ideation[name] for name in ("temperature", "top_p", "templates")]
        self.on(parts.paper.click, self.on_paper, [], shown)
        self.on(parts.job.stop.click, self.on_stop)
        self.on(parts.job.dismiss.click, self.on_dismiss)

    def load(self, person: Person, slug: str) -> Update:
        return self._state(person, slug) if slug else self._no_task(person)

    def follow(self, person: Person, slug: str, *values: Any) -> Update:
        """Return the state without the parts in which a person may be writing or choosing."""
        if not slug:
            return {}
        edited = [*self.guide.outputs, self.others.round, self.parts.propose]
        state = self._state(person, slug, chosen={})
        return {part: value for part, value in state.items() if part not in edited}

    def on_vote(
        self,
        person: Person,
        slug: str,
        asked: tuple[str, int] | None,
        lines: str | None,
        suggested: list[str] | None,
        other: int | None,
        *,
        action: str,
    ) -> Update:
        """Open a vote. If another vote is open, ask first."""
        context, replaces, cleared = self.context, None, {}
        if action == AGREED:
            action, replaces = asked or (LINES, None)
        elif (open_ := self._find_replaced(person, need_task(slug), action)) is not None:
            return self.replace.ask(action, *open_)
        if action == SUGGESTED:
            reopen_criteria(context, person, need_task(slug), suggested or (), instead_of=replaces)
        elif action == OTHER:
            criteria_rounds.take_up_round(context, person, need_task(slug), other or 0, instead_of=replaces)
        else:
            proposals = [Proposal(line, Origin.HUMAN) for line in (lines or "").splitlines()]
            criteria_rounds.open_round(context, person, need_task(slug), proposals, instead_of=replaces)
            cleared = {self.parts.lines: ""}
        return self._state(person, slug) | self.replace.close() | cleared

    def _find_replaced(self, person: Person, slug: str, action: str) -> tuple[RoundState, int] | None:
        """Return the open vote that an action would replace, and its number of ballots."""
        round_ = criteria_rounds.get_round(self.context, person, slug)
        if round_ is None or not round_.open:
            return None
        tally = criteria_rounds.get_tally(self.context, person, slug)
        n_ballots = tally.n_ballots if tally else 0
        # without ballots, ask only before other criteria replace those of the vote
        return (round_, n_ballots) if n_ballots or action in (LINES, OTHER) else None

    def on_keep(self, person: Person, slug: str) -> Update:
        return self.replace.close()

    def on_cancel(self, person: Person, slug: str, round_id: int | None) -> Update:
        criteria_rounds.cancel_vote(self.context, person, need_task(slug), round_id=round_id)
        tell_done("The vote is cancelled. Its ballots are kept, and you can take it up again.")
        return self._state(person, slug)

    def on_use(self, person: Person, slug: str, round_id: int | None) -> Update:
        criteria_rounds.establish(self.context, person, need_task(slug), round_id=round_id, unvoted=True)
        tell_done("These criteria are final. The methods paragraph says that nobody voted.")
        return self._state(person, slug)

    def on_guide(self, person: Person, slug: str, criterion: str | None) -> Update:
        shown = self.guide.choose(
            criteria_rounds.get_criteria_set(self.context, person, need_task(slug)), criterion
        )
        return {box: shown[box] for box in self.guide.texts}

    def on_guide_save(self, person: Person, slug: str, criterion: str | None, *texts: str | None) -> Update:
        definition, anchors, examples = (text or "" for text in texts)
        criteria_sets.set_guide(
            self.context, person, need_task(slug), criterion or "",
            definition=definition, anchors=anchors, examples=examples,
        )  # fmt: skip
        tell_done("Saved. People and models now see this guide.")
        current = criteria_rounds.get_criteria_set(self.context, person, slug)
        return self._state(person, slug) | self.guide.choose(current, criterion)

    def on_draft(self, person: Person, slug: str, model: str, *further: Any) -> Update:
        asked = {"model": model, **self.parts.ideation.read(further)}
        job = jobs.start_criteria_draft(self.context, person, need_task(slug), **asked)
        jobs.get_worker(self.context).start(job)
        return self._state(person, slug)

    def on_paper(self, person: Person, slug: str) -> Update:
        paper = dict(get_preset("coeval-paper").ideation)
        return self.parts.ideation.show(SimpleNamespace(**paper), paper)

    def on_stop(self, person: Person, slug: str) -> Update:
        for job in self._list_jobs(person, slug):
            jobs.cancel_job(self.context, person, job.id)
        return self._state(person, slug)

    def on_dismiss(self, person: Person, slug: str) -> Update:
        jobs.dismiss_job(self.context, person, need_task(slug), jobs.CRITERIA)
        return self._state(person, slug)

    def _list_jobs(self, person: Person, slug: str) -> list[Job]:
        """Return the newest draft of criteria."""
        return jobs.list_jobs(self.context, person, need_task(slug), (jobs.CRITERIA,))[:1]

    def _no_task(self, person: Person) -> Update:
        return {self.parts.card: views.no_task_view(person.role is Role.OWNER)}

    def _next(self, person: Person, task: Task, tally: Tally | None, voting: bool) -> list[Node]:
        """Return the owner's next step, in the demo or in their own study."""
        if task.origin in views.TAGS:
            return [views.own_data_view()]
        here = views.next_words(task.slug, tally if voting else None)
        stands = tasks.get_task_state(self.context, person, task.slug, counted=False)
        return [steps_line(stands, here, voting=voting)]

    def _state(self, person: Person, slug: str, chosen: dict[str, Any] = NOTHING) -> Update:
        """Return the whole tab for this person, with nothing chosen; with ``chosen={}``, choices stay."""
        parts, owner = self.parts, person.role is Role.OWNER
        task = tasks.get_task(self.context, person, slug)
        round_ = criteria_rounds.get_round(self.context, person, slug)
        current = criteria_rounds.get_criteria_set(self.context, person, slug)
        voting = round_ is not None and round_.open
        tally = criteria_rounds.get_tally(self.context, person, slug) if owner else None
        done = views.established_view(current)
        if owner:
            following = self._next(person, task, tally, voting)
        else:
            following = [views.to_scrutiny(slug)] if current and not voting else []
        may_reopen = owner and (current is not None or voting)
        drafted = list_drafted(self.context, person, slug) if may_reopen else []
        said = [(f"{proposal.text} (drafted)", proposal.text) for proposal in drafted]
        update: Update = {
            parts.card: [views.task_card(task), *following],
            parts.main: None if voting else done or views.waiting_view(owner),
            parts.established: done if voting else None,
            parts.ballot_box: gr.Column(visible=voting),
            parts.use: gr.Button(visible=voting and tally is not None and not tally.n_ballots),
            parts.tally: views.tally_view(tally, voting),
            parts.propose: gr.Accordion(visible=owner, open=round_ is None and current is None),
            parts.reopen: gr.Button(
                "Add to the vote" if voting else "Vote on a new version",
                visible=may_reopen and (not voting or bool(said)),
            ),
            parts.settle: gr.Column(visible=owner and voting and bool(tally and tally.n_ballots)),
        }
        update[self.guide.box] = gr.Accordion(visible=owner and current is not None)
        update |= self.guide.choose(current if owner else None, None)
        update |= parts.job.update(self._list_jobs(person, slug) if owner else [])
        others = criteria_rounds.list_other_rounds(self.context, person, slug) if owner else []
        update |= self.others.update(others)
        update[parts.suggested] = gr.CheckboxGroup(said, visible=bool(said), **chosen)
        update |= self.cancel.update(round_ if owner and voting else None, current, tally)
        if round_ is not None and voting:
            update[parts.ballot_title] = views.ballot_title(round_)
            shown = {
                "task": slug,
                "person": person.uid,
                "language": get_spoken().code,
                "round": round_.id,
            }
            update[parts.ballot] = shown | {"revision": round_.ballot.revision if round_.ballot else 0}
            update[parts.decisions] = shown | {"revision": tally.saves} if tally else None
        return update
