"""The boxes of the Criteria tab: what they consist of, and how each shows the state of the vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr

from coeval.domain import MAX_REMARK, CriteriaSet, Guide, Job, JobState
from coeval.llm.proposals import MAX_EXAMPLES
from coeval.rules.ballots import Tally
from coeval.rules.criterion_wording import anchors_text
from coeval.ui.app import criteria_views as views
from coeval.ui.components.number_words import plural, read_decimal
from coeval.ui.components.view import Node, Screen, View, el, jobs_view
from coeval.ui.tabs import Form, Update, read_line
from coeval.usecases.access import Context
from coeval.usecases.criteria_rounds import OtherRound, RoundState


class CancelBox:
    """The button that cancels the vote, and a list of the consequences."""

    def __init__(self) -> None:
        with gr.Accordion("Cancel this vote", open=False, visible=False, elem_id="cancel-box") as self.box:
            self.says = View()
            self.cancel = gr.Button("Cancel the vote", variant="stop", elem_id="cancel-vote")
        self.round = gr.State(None)
        self.outputs = [self.box, self.says, self.round]

    def update(self, round_: RoundState | None, current: CriteriaSet | None, tally: Tally | None) -> Update:
        """Return the box for an open round; hidden if there is none."""
        if round_ is None:
            return {self.box: gr.Accordion(visible=False)}
        return {
            self.box: gr.Accordion(visible=True),
            self.says: _says(current, tally.n_ballots if tally else 0),
            self.round: round_.id,
        }


def _says(current: CriteriaSet | None, n_ballots: int) -> Node:
    stays = f"Version {current.version} stays in use." if current else "There will be no criteria."
    kept = (
        f" {plural(n_ballots, 'ballot')} will no longer count, but stay in the export." if n_ballots else ""
    )
    return el("p.note", stays + kept)


class ReplaceBox:
    """Asks before another vote takes the place of the open one."""

    def __init__(self) -> None:
        with gr.Column(visible=False, elem_classes="card asking", elem_id="replace-vote") as self.box:
            self.says = View()
            with gr.Row(elem_classes="actions"):
                self.keep = gr.Button("Keep the open vote", elem_id="keep-vote", scale=0)
                self.go = gr.Button("Replace it", variant="stop", elem_id="replace-vote-go", scale=0)
        self.asked = gr.State(None)
        """The action that waits for consent, and the round that it would replace."""
        self.outputs = [self.box, self.says, self.asked]

    def ask(self, action: str, round_: RoundState, n_ballots: int) -> Update:
        return {
            self.box: gr.Column(visible=True),
            self.says: views.replace_view(round_, n_ballots),
            self.asked: (action, round_.id),
        }

    def close(self) -> Update:
        return {self.box: gr.Column(visible=False), self.asked: None}


class JobBox:
    """The draft of criteria that is under way, or how the last one ended until an owner dismisses it."""

    def __init__(self) -> None:
        self.says = View(elem_id="criteria-job")
        with gr.Row(elem_classes="actions"):
            self.stop = gr.Button("Stop the draft", visible=False, elem_id="criteria-stop", scale=0)
            self.dismiss = gr.Button("Dismiss", visible=False, elem_id="criteria-dismiss", scale=0)
        self.outputs = [self.says, self.stop, self.dismiss]

    def update(self, listed: list[Job]) -> Update:
        """Return the newest job, unless it was dismissed or ended well."""
        shown = [
            job for job in listed[:1] if job.is_busy or not (job.dismissed or job.state is JobState.DONE)
        ]
        busy = any(job.is_busy for job in shown)
        return {
            self.says: jobs_view(shown, "Draft of criteria") if shown else None,
            self.stop: gr.Button(visible=busy),
            self.dismiss: gr.Button(visible=bool(shown) and not busy),
        }


class OtherVotesBox:
    """The votes that were cancelled or replaced, and the lists that a draft brought during a vote."""

    def __init__(self) -> None:
        with gr.Accordion("Other votes", open=False, visible=False, elem_id="other-votes") as self.box:
            self.says = View()
            self.round = gr.Dropdown([], label="Vote", elem_id="other-vote")
            self.take_up = gr.Button("Take it up again", elem_id="take-up-vote")
        self.outputs = [self.box, self.says, self.round]

    def update(self, rounds: Sequence[OtherRound]) -> Update:
        choices = [(views.other_round_label(other), other.id) for other in rounds]
        newest = max(rounds, key=lambda other: (other.n_ballots > 0, other.round), default=None)
        return {
            self.box: gr.Accordion(visible=bool(rounds)),
            self.says: views.other_rounds_view(rounds) if rounds else None,
            self.round: gr.Dropdown(choices, value=newest.id if newest else None),
        }


class GuideBox:
    """The form of a scoring guide; its tab listens to its events."""

    def __init__(self) -> None:
        with gr.Accordion(
            "Definitions, scores and examples", open=False, visible=False, elem_id="guide"
        ) as self.box:
            self.criterion = gr.Dropdown([], label="Criterion", elem_id="guide-criterion")
            with gr.Row():
                self.definition = gr.Textbox(
                    label="Definition", lines=4, max_length=MAX_REMARK, elem_id="guide-definition"
                )
                self.anchors = gr.Textbox(
                    label="What the scores mean",
                    placeholder="1: misses the point\n5: answers the whole question",
                    lines=4,
                    max_length=MAX_REMARK,
                    elem_id="guide-anchors",
                )
                self.examples = gr.Textbox(
                    label="Examples",
                    info="You can use Markdown.",
                    lines=4,
                    max_length=MAX_REMARK,
                    elem_id="guide-examples",
                )
            with gr.Row(elem_classes="actions"):
                self.save = gr.Button("Save", elem_id="guide-save", scale=0)
        self.texts = [self.definition, self.anchors, self.examples]
        self.outputs = [self.box, self.criterion, *self.texts]

    def choose(self, current: CriteriaSet | None, text: str | None) -> dict[Any, Any]:
        """Return the form for a criterion of the set; for the first one if none has that wording."""
        guides = {criterion.text: criterion.guide for criterion in current.criteria} if current else {}
        chosen = text if text in guides else next(iter(guides), None)
        guide = guides.get(chosen or "", Guide())
        return {
            self.criterion: gr.Dropdown(list(guides), value=chosen),
            self.definition: guide.definition,
            self.anchors: anchors_text(guide),
            self.examples: guide.examples,
        }


def _build_ideation() -> tuple[Form, gr.Button]:
    """Return the form of further arguments for ``draft_criteria``, and the button for a paper's settings."""
    form = Form(
        {
            "count": lambda number: int(number or 5),
            "temperature": partial(read_decimal, "temperature", most=2),
            "top_p": partial(read_decimal, "top_p", most=1),
            "templates": read_line,
        }
    )
    with gr.Accordion("More settings", open=False, elem_id="ideation"):
        paper = gr.Button(
            "Use the settings of the CoEval paper", elem_id="ideation-paper", size="sm", scale=0
        )
        with gr.Row():
            form["count"] = gr.Number(5, precision=0, minimum=1, maximum=50, label="Number of criteria")
            form["examples"] = gr.Number(
                0, precision=0, minimum=0, maximum=MAX_EXAMPLES, label="Instances to show the model"
            )
        with gr.Row():
            form["temperature"] = gr.Textbox(
                "0.7",
                label="Temperature",
                info="Leave blank for the model’s default.",
                max_length=6,
                elem_id="ideation-temperature",
            )
            form["top_p"] = gr.Textbox(
                "", label="top_p", info="Leave blank for the model’s default.", max_length=6
            )
        form["templates"] = gr.Textbox(
            "",
            label="Folder with your criteria.md",
            info="Leave blank for the built-in one; “coeval-paper” sets no number of criteria.",
            max_length=500,
            elem_id="ideation-templates",
        )
    return form, paper


@dataclass(frozen=True, slots=True)
class Parts:
    """The components of the tab."""

    card: View
    main: View
    ballot_box: gr.Column
    ballot_title: View
    ballot: Screen
    use: gr.Button
    tally: View
    established: View
    propose: gr.Accordion
    hint: View
    job: JobBox
    model: gr.Textbox
    ideation: Form
    paper: gr.Button
    draft: gr.Button
    lines: gr.Textbox
    open_vote: gr.Button
    suggested: gr.CheckboxGroup
    reopen: gr.Button
    settle: gr.Column
    decisions: Screen

    def all(self) -> list[Any]:
        return [getattr(self, name) for name in self.__slots__]


def build_parts(context: Context) -> Parts:
    parts: dict[str, Any] = {"card": View(elem_id="task-card")}
    with gr.Row(equal_height=False, elem_classes="two-columns"):
        with gr.Column(scale=2, min_width=320):
            parts["main"] = View(elem_id="criteria-main")
            parts |= _build_ballot()
            parts |= _build_settle()
        with gr.Column(scale=1, min_width=280):
            parts["established"] = View(elem_id="established")
            parts["suggested"] = gr.CheckboxGroup(
                [],
                label="Drafted criteria",
                info="Drafts that arrived during a vote. Select the ones to vote on.",
                visible=False,
                elem_id="suggested",
            )
            parts["reopen"] = gr.Button("Vote on a new version", elem_id="reopen", visible=False)
            parts["tally"] = View(elem_id="tally")
            parts["job"] = JobBox()
            parts |= _build_propose(context)
    return Parts(**parts)


def _build_ballot() -> dict[str, Any]:
    with gr.Column(visible=False, elem_classes="card") as box:
        title = View(elem_id="ballot-title")
        table = Screen(screen="ballot", elem_id="ballot")
        use = gr.Button("Use these without a vote", visible=False, elem_id="use-unvoted", scale=0, size="sm")
    return {"ballot_box": box, "ballot_title": title, "ballot": table, "use": use}


def _build_settle() -> dict[str, Any]:
    with gr.Column(visible=False, elem_classes="card", elem_id="settle") as settle:
        View(views.settle_title())
        decisions = Screen(screen="decisions", elem_id="decisions")
    return {"settle": settle, "decisions": decisions}


def _build_propose(context: Context) -> dict[str, Any]:
    settings = context.settings
    with gr.Accordion("Draft or write criteria", open=False, visible=False, elem_id="propose") as propose:
        hint = View(views.model_hint(settings.has_model, settings.model))
        model = gr.Textbox(settings.model, label="Model", max_length=200, elem_id="draft-model")
        ideation, paper = _build_ideation()
        draft = gr.Button("Draft criteria", interactive=settings.has_model, elem_id="draft-criteria")
        lines = gr.Textbox(
            label="Or write criteria, one per line",
            lines=5,
            max_length=50_000,
            elem_id="criteria-lines",
            placeholder="The reply answers the question.",
        )
        open_vote = gr.Button("Open the vote", elem_id="open-vote")
    return {
        "propose": propose,
        "hint": hint,
        "model": model,
        "ideation": ideation,
        "paper": paper,
        "draft": draft,
        "lines": lines,
        "open_vote": open_vote,
    }
