"""Set-up, Pre-fill: estimate, start, follow, cancel and resume a run, and repeat unreadable answers."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import gradio as gr

from coeval.domain import Job, JobState, Person
from coeval.errors import InputError, NotFoundError
from coeval.extending import load_parts
from coeval.llm.prompting.template_files import list_wordings
from coeval.llm.protocols.protocol import FIRST, list_protocols
from coeval.llm.running.ledger import Prices
from coeval.ui.app.criteria_views import model_hint
from coeval.ui.components.next_step import find_next, next_view
from coeval.ui.components.number_words import read_decimal
from coeval.ui.components.view import Node, View, el, image_view, jobs_view
from coeval.ui.server.payloads import tell
from coeval.ui.setup.design_box import design_hint
from coeval.ui.setup.prefill_boxes import (
    Counted,
    PresetBox,
    RunsBox,
    StepsBox,
)
from coeval.ui.tabs import Form, Tab, Update, more_settings, need_task, read_count, read_line, tell_done
from coeval.usecases import tasks
from coeval.usecases.drafting import jobs, preparation
from coeval.usecases.drafting.jobs import get_worker
from coeval.usecases.drafting.model_requests import MAX_TOKENS, suggest_decisions
from coeval.usecases.drafting.run_settings import RunSettings, read_run_settings
from coeval.usecases.scrutiny.design import get_design

EFFORTS = ["", "minimal", "low", "medium", "high"]
Seen = tuple[object, ...]
"""The data behind the current menus and buttons."""


class PrefillTab(Tab):
    """The tab to estimate, start, follow, cancel and resume a pre-fill, and to repeat unreadable answers."""

    title, id = "Pre-fill", "prefill"

    def build(self) -> None:
        self.worker = get_worker(self.context)
        settings = self.context.settings
        with gr.Row(equal_height=False):
            with gr.Column(scale=2, elem_classes="card"):
                View(model_hint(settings.has_model, settings.model))
                self._build_form()
                with gr.Row(elem_classes="actions"):
                    self.see = gr.Button("Show the prompt", elem_id="prefill-question", scale=0)
                    self.ask = gr.Button("Estimate", elem_id="prefill-estimate", scale=0)
                    self.start = gr.Button(
                        "Start",
                        variant="primary",
                        interactive=settings.has_model,
                        elem_id="prefill-start",
                        scale=0,
                    )
            with gr.Column(scale=3, elem_id="prefill-answers"):
                self.design = View(elem_id="prefill-design")
                self.estimate = View(elem_id="prefill-note")
                self.jobs = View(elem_id="jobs")
                with gr.Row(elem_classes="actions"):
                    self.cancel = gr.Button("Stop this run", elem_id="job-cancel", scale=0)
                    self.resume = gr.Button("Start it again", elem_id="job-resume", scale=0)
                    self.retry = gr.Button("Retry unscored", elem_id="job-retry", scale=0)
                    self.show = gr.Button("Show these drafts", elem_id="show-drafts", scale=0)
                self.runs = RunsBox(self.context, self.task)
        self.seen = gr.State(())
        self._wire()

    def _build_form(self) -> None:
        settings = self.context.settings
        form = self.form = Form(
            {
                **dict.fromkeys(("model", "templates", "label"), read_line),
                **dict.fromkeys(("samples", "max_tokens"), read_count),
                "temperature": partial(read_decimal, "temperature", most=2),
                "top_p": partial(read_decimal, "top_p", most=1),
                "criteria_per_call": int,
            }
        )
        form["model"] = gr.Textbox(settings.model, label="Model", max_length=200, elem_id="prefill-model")
        form["max_tokens"] = gr.Number(
            MAX_TOKENS,
            precision=0,
            minimum=0,
            label="Token limit per answer",
            info="Ends answers that do not end by themselves. 0 sets no limit.",
        )
        with more_settings("prefill-more"):
            self.presets = PresetBox(self.context, self.task)
            _build_protocol(form)
            _build_requests(form, settings.concurrency)
            self.steps = StepsBox(self.context, self.task, form)
            self.boxes = [box(self.context, self.task, form) for box in load_parts("boxes", self.id)]
        self.presets.fill(form)

    def _wire(self) -> None:
        buttons = [self.cancel, self.resume, self.retry, self.show]
        state = [self.jobs, *buttons, self.seen, *self.runs.outputs]
        self.outputs = [*state, self.design, *self.steps.outputs]
        self.outputs += [output for box in self.boxes for output in box.outputs]
        settings = self.form.inputs
        asked: dict[str, Any] = {"outputs": self.estimate, "show_progress": "minimal"}
        self.on(self.see.click, self.on_see, settings, **asked)
        self.on(self.ask.click, self.on_estimate, settings, **asked)
        self.on(self.start.click, self.on_start, settings, [self.estimate, *state])
        self.on(self.cancel.click, self.on_cancel, outputs=state)
        self.on(self.resume.click, self.on_resume, outputs=state)
        self.on(self.retry.click, self.on_retry, outputs=state)
        self.on(self.show.click, self.on_show, outputs=state)
        self.followed_with = [self.seen, self.runs.of]

    def load(self, person: Person, slug: str) -> Update:
        if not slug:
            return {self.jobs: None}
        state = self._state(person, slug)
        state[self.design] = design_hint(slug, get_design(self.context, person, slug).design)
        with suppress(NotFoundError):  # without criteria or instances, these boxes have no content yet
            for box in (self.steps, *self.boxes):
                state |= box.update(person, slug)
        return state

    def read(self, values: tuple[Any, ...]) -> RunSettings:
        """Return the values of the form as the settings of a run."""
        values_read = self.form.read(values)
        prices = Prices(values_read.pop("price_in"), values_read.pop("price_out"))
        return RunSettings(**values_read, prices=prices)

    def on_see(self, person: Person, slug: str, *values: Any) -> Node:
        question = preparation.show_question(self.context, person, need_task(slug), self.read(values))
        about = f"Instance “{question.instance}”, judged by: {'; '.join(question.criteria)}"
        turns = [
            part
            for turn in question.request.messages
            for part in (el("p", el("b", f"Message as {turn.role}")), el("div.question", turn.content))
        ]
        turns += [
            part
            for asked in question.request.questions
            for part in (
                el("p", el("b", f"Question for a decision: {asked.kind}")),
                el("div.question", asked.text),
            )
        ]
        return el(
            "div.card",
            el("h4", "Prompt to the judge"),
            el("p", about),
            *turns,
            *map(image_view, question.images),
        )

    def on_estimate(self, person: Person, slug: str, *values: Any) -> Node:
        settings = self.read(values)
        estimate = preparation.estimate_run(self.context, person, need_task(slug), settings)
        advice = suggest_decisions(self.context, person, settings)
        return el(
            "div.card",
            el("h4", "Estimate"),
            el("p", str(estimate)),
            el("p.note", "For the cost, fill in the prices under More settings, then estimate again.")
            if settings.prices == Prices()
            else None,
            *doubts_of(settings),
            el("p.note", advice) if advice else None,
        )

    def on_start(self, person: Person, slug: str, *values: Any) -> Update:
        settings = self.read(values)
        try:
            job = jobs.start_job(self.context, person, need_task(slug), settings)
        except InputError as error:  # beside the button, where people look
            return {self.estimate: el("div.card.error", el("p", tell(error)), role="alert")}
        self.worker.start(job)
        doubts = doubts_of(settings)
        return {self.estimate: el("div.card", *doubts) if doubts else None} | self._state(person, slug)

    def follow(self, person: Person, slug: str, *values: Any) -> Update:
        """Return the changes: counts always, menus and buttons only if they changed."""
        seen, looked_at = values
        if not slug:
            return {}
        listed = jobs.list_jobs(self.context, person, slug)
        runs = tasks.get_task_state(self.context, person, slug).runs
        now = _signature(slug, listed, runs)
        if now == seen:
            busy = _are_under_way(listed[:1])
            return {self.jobs: [_listed(listed), *self._next(person, slug, busy)], **self.runs.follow(runs)}
        return self._state(person, slug, looked_at)

    def on_cancel(self, person: Person, slug: str) -> Update:
        newest = jobs.list_jobs(self.context, person, need_task(slug))[:1]
        for job in newest:
            jobs.cancel_job(self.context, person, job.id)
        return self._state(person, slug)

    def on_resume(self, person: Person, slug: str) -> Update:
        return self._again(person, slug, retry_unscored=False)

    def on_retry(self, person: Person, slug: str) -> Update:
        return self._again(person, slug, retry_unscored=True)

    def on_show(self, person: Person, slug: str) -> Update:
        listed = jobs.list_jobs(self.context, person, need_task(slug))
        tasks.show_run(
            self.context, person, slug, read_run_settings(listed[0].params).label if listed else ""
        )
        tell_done("Annotators now see these drafts.")
        return self._state(person, slug)

    def _again(self, person: Person, slug: str, *, retry_unscored: bool) -> Update:
        job = jobs.restart_job(self.context, person, need_task(slug), retry_unscored=retry_unscored)
        self.worker.start(job)
        return self._state(person, slug)

    def _state(self, person: Person, slug: str, looked_at: str | None = None) -> Update:
        listed = jobs.list_jobs(self.context, person, slug)
        runs = tasks.get_task_state(self.context, person, slug).runs
        newest = listed[0] if listed else None
        busy = _are_under_way(listed[:1])
        unscored = sum(count for _, _, count in runs)
        return {
            self.jobs: [_listed(listed), *self._next(person, slug, busy)],
            self.cancel: gr.Button(visible=busy),
            self.resume: gr.Button(
                visible=newest is not None and not busy and newest.state is not JobState.DONE
            ),
            self.retry: gr.Button(visible=newest is not None and not busy and unscored > 0),
            self.show: gr.Button(visible=newest is not None and not busy and _is_unshown(newest, runs)),
            self.seen: _signature(slug, listed, runs),
            **self.runs.update(person, slug, looked_at),
        }

    def _next(self, person: Person, slug: str, busy: bool) -> list[Node]:
        """Return the next step if no run is under way."""
        stands = tasks.get_task_state(self.context, person, slug, counted=False)
        step = find_next(stands)
        return [] if busy or step.tab == self.id else [next_view(stands, in_setup=True)]


def _build_protocol(form: Form) -> None:
    summaries = {name: protocol.summary for name, protocol in list_protocols().items()}
    form["protocol"] = gr.Dropdown(
        [(f"{name}: {what}", name) for name, what in summaries.items()],
        value=FIRST,
        label="Protocol",
        elem_id="prefill-protocol",
    )
    with gr.Row():
        form["samples"] = gr.Number(
            0,
            precision=0,
            minimum=0,
            maximum=100,
            label="Samples per item",
            info="0 uses the protocol’s number.",
        )
        form["temperature"] = gr.Textbox(
            "", label="Temperature", info="Leave blank for the model’s default.", max_length=6
        )
    with gr.Row():
        form["price_in"] = gr.Number(0, minimum=0, label="Price of 1M prompt tokens")
        form["price_out"] = gr.Number(0, minimum=0, label="Price of 1M answer tokens")
    form["persona"] = gr.State("")  # the menu of papers sets it
    form["logprobs"] = gr.Checkbox(label="Expected score from log-probabilities")
    with gr.Row():
        form["explain"] = gr.Dropdown(
            [("None", ""), ("Where a decision is uncertain", "uncertain"), ("Every decision", "all")],
            value="",
            label="Explanations",
            info="A chat model writes the conclusion and the evidence (only for the protocol decision).",
            elem_id="prefill-explain",
        )
        form["explain_model"] = gr.Textbox(
            "", label="Model that explains", info="Leave blank for the model that decides.", max_length=200
        )
    form["reference"] = gr.Checkbox(
        label="Show the judge each instance's reference", elem_id="prefill-reference"
    )


def _build_requests(form: Form, concurrency: int) -> None:
    form["top_p"] = gr.Textbox("", label="top_p", info="Leave blank for the model’s default.", max_length=6)
    form["reasoning_effort"] = gr.Dropdown(
        EFFORTS, value="", label="Reasoning effort", info="Leave blank for the model’s default."
    )
    form["templates"] = gr.Textbox(
        "",
        label="Templates",
        info="A folder on the server with your copies, or one of the built-in sets. "
        f"Leave blank for the usual one. Sets: {', '.join(list_wordings())}.",
        max_length=500,
        elem_id="prefill-templates",
    )
    form["concurrency"] = gr.Number(
        0,
        precision=0,
        minimum=0,
        maximum=256,
        label="Parallel requests",
        info=f"0 uses the server’s setting, {concurrency}.",
        elem_id="prefill-concurrency",
    )
    form["criteria_per_call"] = gr.Dropdown(
        [("1: one by one", 1), *((str(number), number) for number in range(2, 11)), ("all together", 0)],
        value=1,
        label="Criteria in one question",
        info="Several in one question cost much less, but can change the scores.",
        elem_id="criteria-per-call",
    )
    form["label"] = gr.Textbox(
        "", label="Run label", info="Leave blank to name it by model and protocol.", max_length=120
    )


def _are_under_way(listed: list[Job]) -> bool:
    return any(job.is_busy for job in listed)


def _is_unshown(newest: Job, runs: Counted) -> bool:
    """Return whether the newest job's run has drafts but is not shown to annotators."""
    label = read_run_settings(newest.params).label
    return any(
        run.label == label and ok and not run.shown and run.protocol != "pairwise" for run, ok, _ in runs
    )


def _signature(slug: str, listed: list[Job], runs: Counted) -> Seen:
    newest = (listed[0].id, listed[0].state) if listed else ()
    return (
        slug,
        newest,
        _are_under_way(listed),
        *((run.id, run.shown, ok > 0, bad > 0) for run, ok, bad in runs),
    )


def doubts_of(settings: RunSettings) -> list[Node]:
    """Return warnings about settings that the user may not have meant."""
    return [el("p", el("b", "Warning: "), doubt) for doubt in settings.doubts]


def _listed(listed: list[Job]) -> Node:
    if not listed:
        return el("div.card.empty", el("p", "Nothing has been pre-filled yet."))
    return jobs_view(listed, "Pre-fills")
