"""The Judge tab, “Learn”: examples and wordings from people's corrections, and lines for people."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from coeval.domain import Person
from coeval.extensions.judge import corrections
from coeval.extensions.judge.certificate.frozen_judge import FrozenJudge
from coeval.extensions.judge.corrections import ProposedExample
from coeval.extensions.judge.deferred_lines import Deferred
from coeval.extensions.judge.learning.prompts import shorten_middle
from coeval.extensions.judge.queries_wordings import Wording
from coeval.extensions.judge.state import JudgeState, get_judge_state
from coeval.rules.ballots import same_words
from coeval.stats.estimates import plural
from coeval.ui.components.view import Node, View, el, scrolling, table
from coeval.ui.tabs import MODEL, Panel, Update, need_task
from coeval.usecases.drafting.jobs import get_worker, start_job
from coeval.usecases.scrutiny.policies import Asking

SHOWN_TEXT, SHOWN_LINES = 400, 50
_TOKENS = re.compile(r"\s+|\w+|[^\w\s]")


def examples_view(proposed: Sequence[ProposedExample]) -> list[Node]:
    """Return each example with its texts, people's score and reason, and why it was chosen."""
    return [
        el(
            "section.sample",
            el("h4", f"Example {n}: {example.criterion}"),
            el("p.note", example.why),
            el("pre", shorten_middle(example.example.input, SHOWN_TEXT)),
            el("pre", shorten_middle(example.example.output, SHOWN_TEXT)),
            el("p", f"Score by people: {example.example.score:g}"),
            el("p", f"Why: {example.example.reason}") if example.example.reason else None,
        )
        for n, example in enumerate(proposed, 1)
    ]


def wording_view(wording: Wording) -> list[Node]:
    """Return a proposed wording as a difference from the criterion, with its meanings of scores."""
    shown: list[Node] = [
        el("h4", f"Proposed wording of “{wording.before}”"),
        el("p.wording", *diff_nodes(wording.before, wording.text)),
    ]
    if same_words(wording.before) == same_words(wording.text):
        shown.append(el("p.note", "Meanings of scores are added to the guide immediately."))
    if wording.anchors:
        meanings = (el("li", f"{score}: {meaning}") for score, meaning in wording.anchors)
        shown += [el("p", "Meanings of the scores:"), el("ul", *meanings)]
    if wording.why:
        shown.append(el("p", f"Why: {wording.why}"))
    made = f"By {wording.model} on {wording.proposed_at[:10]}, from corrections of the documents to fit on."
    return [*shown, el("p.note", made)]


def diff_nodes(before: str, after: str) -> Iterator[Node]:
    """Yield the words of both texts: removed words struck out, new words marked.

    >>> [n if isinstance(n, str) else (n["tag"], *n["children"]) for n in diff_nodes("Be brief.", "Be short.")]
    ['Be ', ('del', 'brief'), ('ins', 'short'), '.']
    """
    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "".join(old[i:j])
            continue
        if j > i:
            yield el("del", "".join(old[i:j]))
        if m > k:
            yield el("ins", "".join(new[k:m]))


def people_view(frozen: FrozenJudge | None, deferred: Deferred | None, asking: Asking | None) -> list[Node]:
    """Return the threshold's guarantee, the lines for people, and the team's current request."""
    if frozen is None:
        return [el("p", "Learn first: learning finds when to ask a person.")]
    if frozen.fitted.deferral is None or deferred is None:
        said = "No threshold was kept: the judge’s confidence did not predict where people agree with it."
        remedy = (
            "To learn a threshold, use decisions, log-probabilities, several samples or several judges: they "
            "give the judge a confidence."
        )
        return [el("p", said), el("p.note", remedy)]
    left = (
        f"Of {plural(deferred.judged, 'line')} the judge leaves {deferred.to_people:,} to people; nobody has scored "
        f"{len(deferred.lines):,} of these."
    )
    shown: list[Node] = [el("p", left), el("p.note", frozen.fitted.deferral.computed)]
    if asking is not None:
        now = (
            f"Since {asking.asked_at[:16].replace('T', ' ')} UTC the team has only "
            f"{plural(asking.lines, 'line')} of {plural(asking.instances, 'instance')}: "
            f"{asking.scored:,} scored so far."
        )
        shown.append(el("p.banner", now))
    if deferred.lines:
        rows = [
            [line.instance, line.criterion, _number(line.score), _number(line.confidence)]
            for line in deferred.lines[:SHOWN_LINES]
        ]
        head = f"The list: {plural(len(deferred.lines), 'line')}, the least sure first"
        if len(deferred.lines) > SHOWN_LINES:
            head += f" ({SHOWN_LINES} shown; all with judge people --out)"
        grid = table(["Instance", "Criterion", "Judge’s score", "Confidence"], rows)
        shown.append(el("details", el("summary", head), scrolling("Lines for people", grid)))
    return shown


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


EXAMPLES_NOTE = (
    "Show the judge lines that people corrected as worked examples. The largest corrections "
    "come first, balanced over the scores. Select the examples that show what you mean. "
    "CoEval drafts another run with them; “Learn and freeze” from that run keeps them only "
    "if they help. Examples are included in judge.json."
)
WORDING_NOTE = (
    "The model reads people’s corrections for a criterion, with their reasons, and proposes "
    "a clearer wording. Nothing changes until you accept it: the wording then goes to the "
    "vote on the next version of the criteria."
)


class ExamplesBox(Panel):
    """The form to choose, check and take examples for a new run, which Pre-fill then drafts."""

    def build(self) -> None:
        with gr.Accordion(
            "Examples from corrections", open=False, visible=False, elem_id="judge-examples"
        ) as self.box:
            View(el("p.note", EXAMPLES_NOTE))
            with gr.Row(elem_classes="actions"):
                self.run = gr.Dropdown([], label="Corrected judge", elem_id="examples-run")
                self.number = gr.Number(
                    corrections.NUMBER, precision=0, minimum=1, maximum=corrections.MOST, min_width=120,
                    label="Examples per criterion", elem_id="examples-number",
                )  # fmt: skip
                choose = gr.Button("Choose examples", elem_id="examples-choose", scale=0, min_width=180)
            self.shown = View(elem_id="examples-shown")
            self.keys = gr.CheckboxGroup([], label="Take", visible=False, elem_id="examples-keys")
            self.take = gr.Button(
                "Draft a run with these examples", variant="primary", visible=False, elem_id="examples-take"
            )
            self.told = View(elem_id="examples-told")
        self.outputs = [self.box, self.run, self.shown, self.keys, self.take, self.told]
        self.on(choose.click, self.on_choose, [self.run, self.number])
        self.on(self.take.click, self.on_take, [self.keys, self.run, self.number])

    def update(self, state: JudgeState, *, owner: bool) -> Update:
        """Empty the box, and show it to an owner of a sealed task with a run that was drafted without examples."""
        runs = [run.label for run in state.runs if run.id not in state.with_examples]
        first = next((run.label for run in state.runs if run.shown), None)
        open_to = owner and state.seal is not None and bool(runs)
        return {
            self.box: gr.Accordion(visible=open_to),
            self.run: gr.Dropdown(runs, value=first if first in runs else next(iter(runs), None)),
            self.told: None,
            **self._chosen([]),
        }

    def _chosen(self, proposed: list[corrections.ProposedExample]) -> Update:
        names = [(f"Example {n}", example.key) for n, example in enumerate(proposed, 1)]
        return {
            self.shown: examples_view(proposed) if proposed else None,
            self.keys: gr.CheckboxGroup(
                names, value=[example.key for example in proposed], visible=bool(proposed)
            ),
            self.take: gr.Button(visible=bool(proposed)),
        }

    def on_choose(self, person: Person, slug: str, run: str | None, number: float | None) -> Update:
        chosen = corrections.propose_examples(
            self.context, person, need_task(slug), run or "", int(number or 0)
        )
        return self._chosen(chosen)

    def on_take(
        self, person: Person, slug: str, keys: list[str], run: str | None, number: float | None
    ) -> Update:
        settings = corrections.take_examples(
            self.context, person, need_task(slug), keys, run or "", int(number or 0)
        )
        get_worker(self.context).start(start_job(self.context, person, slug, settings))
        said = (
            f"The run “{settings.label}” is being drafted; Set-up, Pre-fill shows its progress. After it "
            "is done, choose it above as the judge to start from, and learn: its examples are kept only "
            "if they help."
        )
        return {self.told: el("p.banner", said), **self._chosen([])}


class WordingBox(Panel):
    """The form to request a wording, compare it, and accept or refuse it."""

    def build(self) -> None:
        with gr.Accordion(
            "Wording from corrections", open=False, visible=False, elem_id="judge-wording"
        ) as self.box:
            View(el("p.note", WORDING_NOTE))
            with gr.Row(elem_classes="actions"):
                self.criterion = gr.Dropdown([], label="Criterion", elem_id="wording-criterion")
                self.run = gr.Dropdown([], label="Corrected judge", elem_id="wording-run")
                propose = gr.Button("Propose a wording", elem_id="wording-propose", scale=0, min_width=180)
            self.shown = View(elem_id="wording-shown")
            self.open = gr.State(None)
            with gr.Row(visible=False, elem_classes="actions") as self.deciding:
                take = gr.Button("Accept", variant="primary", elem_id="wording-take")
                leave = gr.Button("Keep the criterion", elem_id="wording-leave")
        self.outputs = [self.box, self.criterion, self.run, self.shown, self.open, self.deciding]
        self.on(propose.click, self.on_propose, [self.criterion, self.run], **MODEL)
        self.on(take.click, self.on_take, [self.open])
        self.on(leave.click, self.on_leave, [self.open])

    def update(self, state: JudgeState, *, owner: bool) -> Update:
        """Show the box and the newest open wording to an owner of a sealed task with a run and a criterion."""
        runs = [run.label for run in state.runs]
        texts = [criterion.text for criterion in state.criteria]
        open_to = owner and state.seal is not None and bool(runs and texts)
        return {
            self.box: gr.Accordion(visible=open_to),
            self.criterion: gr.Dropdown(texts, value=next(iter(texts), None)),
            self.run: gr.Dropdown(runs, value=next(iter(runs), None)),
            **self._shown(state),
        }

    def _again(self, person: Person, slug: str, said: str = "") -> dict[Any, Any]:
        return self._shown(get_judge_state(self.context, person, slug), said)

    def _shown(self, state: JudgeState, said: str = "") -> dict[Any, Any]:
        return self._show(state.wordings[-1] if state.wordings else None, said)

    def _show(self, wording: Wording | None, said: str = "") -> dict[Any, Any]:
        nodes = [*([el("p.banner", said)] if said else []), *(wording_view(wording) if wording else [])]
        return {
            self.shown: nodes,
            self.open: wording.id if wording else None,
            self.deciding: gr.Row(visible=wording is not None),
        }

    async def on_propose(
        self, person: Person, slug: str, criterion: str | None, run: str | None
    ) -> dict[Any, Any]:
        return self._show(
            await corrections.propose_wording(
                self.context, person, need_task(slug), criterion or "", run or ""
            )
        )

    def on_take(self, person: Person, slug: str, wording: int | None) -> Update:
        voted = corrections.take_wording(self.context, person, need_task(slug), wording or 0)
        said = (
            "Accepted: the vote on the next version, with the new wording, is open on the Criteria tab."
            if voted
            else "Accepted: the criterion’s guide now says what each score means, for people and models."
        )
        return self._again(person, slug, said)

    def on_leave(self, person: Person, slug: str, wording: int | None) -> Update:
        corrections.leave_wording(self.context, person, need_task(slug), wording or 0)
        return self._again(
            person, slug, "Rejected: the criterion is unchanged, and the proposal stays on record."
        )
