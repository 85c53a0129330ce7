"""The Judge tab, "Learn": examples and wordings from people's corrections, each taken or left by the owner."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import Person
from coeval.domain.seals import Wording
from coeval.study.drafting.jobs import start_job
from coeval.study.drafting.worker import get_worker
from coeval.study.judging import criterion_wordings, examples
from coeval.study.judging.state import JudgeState, get_judge_state
from coeval.ui.components.view import View, el
from coeval.ui.panel import MODEL, Panel, Update, need_task
from coeval.ui.study_app.judge.correction_views import examples_view, wording_view

EXAMPLES_NOTE = (
    "Lines that people corrected, shown to the judge as worked examples: those farthest from what it said come first, "
    "balanced over the scores. Look at them, and take those that teach what you mean. A run with them is drafted "
    "beside the one without; “Learn and freeze” from that run keeps them only where they help. Examples go into "
    "judge.json."
)
WORDING_NOTE = (
    "The model reads what people corrected by a criterion, and why, and proposes a sharper wording. It changes "
    "nothing: a wording that you take is put to the vote for the next version of the criteria."
)


class ExamplesBox(Panel):
    """Choose, look, take: the run with the examples is then drafted as a job of Pre-fill."""

    def build(self) -> None:
        with gr.Accordion(
            "Examples from corrections", open=False, visible=False, elem_id="judge-examples"
        ) as self.box:
            View(el("p.note", EXAMPLES_NOTE))
            with gr.Row(elem_classes="actions"):
                self.run = gr.Dropdown([], label="Judge that was corrected", elem_id="examples-run")
                self.number = gr.Number(
                    examples.NUMBER, precision=0, minimum=1, maximum=examples.MOST, min_width=120,
                    label="Examples by each criterion", elem_id="examples-number",
                )  # fmt: skip
                choose = gr.Button("Choose examples", elem_id="examples-choose", scale=0, min_width=180)
            self.shown = View(elem_id="examples-shown")
            self.keys = gr.CheckboxGroup([], label="Take", visible=False, elem_id="examples-keys")
            self.take = gr.Button(
                "Draft a run with these", variant="primary", visible=False, elem_id="examples-take"
            )
            self.told = View(elem_id="examples-told")
        self.outputs = [self.box, self.run, self.shown, self.keys, self.take, self.told]
        self.on(choose.click, self.on_choose, [self.run, self.number])
        self.on(self.take.click, self.on_take, [self.keys, self.run, self.number])

    def update(self, state: JudgeState, *, owner: bool) -> Update:
        """The box for a task that is sealed; what was chosen before is chosen anew."""
        runs = [run.label for run in state.runs if run.id not in state.with_examples]
        first = next((run.label for run in state.runs if run.shown), None)
        open_to = owner and state.seal is not None and bool(runs)
        return {
            self.box: gr.Accordion(visible=open_to),
            self.run: gr.Dropdown(runs, value=first if first in runs else next(iter(runs), None)),
            self.told: None,
            **self._chosen([]),
        }

    def _chosen(self, proposed: list[examples.ProposedExample]) -> Update:
        names = [(f"Example {n}", one.key) for n, one in enumerate(proposed, 1)]
        return {
            self.shown: examples_view(proposed) if proposed else None,
            self.keys: gr.CheckboxGroup(names, value=[one.key for one in proposed], visible=bool(proposed)),
            self.take: gr.Button(visible=bool(proposed)),
        }

    def on_choose(self, person: Person, slug: str, run: str | None, number: float | None) -> Update:
        chosen = examples.propose_examples(self.context, person, need_task(slug), run or "", int(number or 0))
        return self._chosen(chosen)

    def on_take(
        self, person: Person, slug: str, keys: list[str], run: str | None, number: float | None
    ) -> Update:
        settings = examples.take_examples(
            self.context, person, need_task(slug), keys, run or "", int(number or 0)
        )
        get_worker(self.context).start(start_job(self.context, person, slug, settings))
        said = (
            f"The run “{settings.label}” is being drafted: Set-up, Pre-fill shows how far it is. Once it is done, "
            "choose it above as the judge to start from, and learn: its examples are kept only where they help."
        )
        return {self.told: el("p.banner", said), **self._chosen([])}


class WordingBox(Panel):
    """Propose, look at the difference, take or leave."""

    def build(self) -> None:
        with gr.Accordion(
            "Wording from corrections", open=False, visible=False, elem_id="judge-wording"
        ) as self.box:
            View(el("p.note", WORDING_NOTE))
            with gr.Row(elem_classes="actions"):
                self.criterion = gr.Dropdown([], label="Criterion", elem_id="wording-criterion")
                self.run = gr.Dropdown([], label="Judge that was corrected", elem_id="wording-run")
                propose = gr.Button("Propose a wording", elem_id="wording-propose", scale=0, min_width=180)
            self.shown = View(elem_id="wording-shown")
            self.open = gr.State(None)
            with gr.Row(visible=False, elem_classes="actions") as self.deciding:
                take = gr.Button("Take it", variant="primary", elem_id="wording-take")
                leave = gr.Button("Leave the criterion as it is", elem_id="wording-leave")
        self.outputs = [self.box, self.criterion, self.run, self.shown, self.open, self.deciding]
        self.on(propose.click, self.on_propose, [self.criterion, self.run], **MODEL)
        self.on(take.click, self.on_take, [self.open])
        self.on(leave.click, self.on_leave, [self.open])

    def update(self, state: JudgeState, *, owner: bool) -> Update:
        """The box for a task that is sealed, with the newest wording that is still to be taken or left."""
        runs = [run.label for run in state.runs]
        texts = [one.text for one in state.criteria]
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
            await criterion_wordings.propose_wording(
                self.context, person, need_task(slug), criterion or "", run or ""
            )
        )

    def on_take(self, person: Person, slug: str, wording: int | None) -> Update:
        voted = criterion_wordings.take_wording(self.context, person, need_task(slug), wording or 0)
        said = (
            "Taken: the vote on the next version is open on the Criteria tab, the new wording in the place of the old."
            if voted
            else "Taken: what each score means now stands in the criterion’s guide, for people and models."
        )
        return self._again(person, slug, said)

    def on_leave(self, person: Person, slug: str, wording: int | None) -> Update:
        criterion_wordings.leave_wording(self.context, person, need_task(slug), wording or 0)
        return self._again(
            person, slug, "Left: the criterion stays as it is, and the proposal stays on record."
        )
