"""Set-up, Crowd: how a task is given out to strangers, and running, pausing and closing it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import gradio as gr

from coeval.domain import Person, Plan, StudyState, Terms
from coeval.study import tasks
from coeval.study.crowd import exams, plans
from coeval.ui.components.view import View, el
from coeval.ui.panel import Tab, Update, need_task

PROLIFIC_QUERY = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
"""What Prolific fills in, to be copied into the study's address there."""


class CrowdTab(Tab):
    """The plan by which a task is given out, its answer keys, and whether it runs."""

    title, id = "Crowd", "crowd"

    def build(self) -> None:
        self.status = View(elem_id="crowd-status")
        with gr.Row(equal_height=False):
            with gr.Column(elem_classes="card"):
                numbers = _build_numbers()
            with gr.Column(elem_classes="card"):
                texts = _build_texts()
        self.fields = {**numbers, **texts}
        self.outputs = [self.status, *self.fields.values()]
        with gr.Row(elem_classes="actions"):
            for state in StudyState:
                button = gr.Button(_label(state), elem_id=f"crowd-{state}", scale=0)
                self.on(button.click, partial(self.on_state, state))
            save = gr.Button(
                "Give the task out by this plan",
                variant="primary",
                elem_id="crowd-save",
                scale=0,
                min_width=280,
            )
        self.on(save.click, self.on_save, list(self.fields.values()))
        self._build_keys()

    def _build_keys(self) -> None:
        with gr.Accordion("Answer keys: of the exam, and attention checks", open=False):
            keys = gr.Textbox(
                lines=6, label="CSV: instance, criterion, accepted, must, explanation", elem_id="crowd-keys",
                info="Of the task chosen above. On the exam's task they are the exam's key, here attention checks.",
            )  # fmt: skip
            save = gr.Button("Set the keys", elem_id="crowd-keys-save")
        self.on(save.click, self.on_keys, [keys])

    def load(self, person: Person, slug: str, note: str = "") -> Update:
        if not slug:
            return {self.status: el("p.note", "Describe a task first, under Tasks.")}
        plan = plans.get_plan(self.context, person, slug)
        known = tasks.list_tasks(self.context, person)
        exam = next((task.slug for task in known if plan and task.id == plan.exam), "")
        values = _values(plan or Plan(), exam)
        return {
            self.status: _status(slug, plan, note),
            **{self.fields[name]: value for name, value in values.items()},
        }

    def on_save(self, person: Person, slug: str, *values: Any) -> Update:
        given = dict(zip(self.fields, values, strict=True))
        before = plans.get_plan(self.context, person, need_task(slug))
        plan = replace(_read(given), state=before.state if before else StudyState.RUNNING)
        plans.set_plan(self.context, person, slug, plan, exam=str(given["exam"] or "").strip())
        return self.load(person, slug, "The plan is saved.")

    def on_keys(self, person: Person, slug: str, text: str | None) -> Update:
        n = exams.set_keys(self.context, person, need_task(slug), text or "")
        return self.load(person, slug, f"{n} answer keys are set.")

    def on_state(self, state: StudyState, person: Person, slug: str) -> Update:
        plans.set_state(self.context, person, need_task(slug), state)
        return self.load(person, slug, f"The study is {state}.")


def _label(state: StudyState) -> str:
    return {StudyState.RUNNING: "Run", StudyState.PAUSED: "Pause", StudyState.CLOSED: "Close"}[state]


def _build_numbers() -> dict[str, Any]:
    def number(label: str, name: str, **options: Any) -> gr.Number:
        return gr.Number(label=label, precision=0, minimum=1, elem_id=f"crowd-{name}", **options)

    return {
        "per_instance": number("People for each instance", "k"),
        "batch": number("Instances given at a time", "batch"),
        "quota": number("Instances for a person at most", "quota"),
        "reserve_minutes": number("Minutes until what is left lying is given to others", "reserve"),
        "exam": gr.Textbox(label="Qualification: short name of its task (empty: none)", elem_id="crowd-exam"),
        "pass_share": gr.Slider(0.05, 1, step=0.05, label="Pass mark, as a share", elem_id="crowd-pass"),
        "max_tries": number("Tries at the qualification", "tries"),
        "review": gr.Checkbox(label="An owner admits whoever passed", elem_id="crowd-review"),
        "warn_after": number("Failed attention checks until a warning", "warn"),
        "block_after": number("Failed attention checks until the end", "block"),
        "hourly_rate": gr.Number(label="Pay for an hour", minimum=0, elem_id="crowd-rate"),
        "currency": gr.Textbox(label="Currency", max_length=8, elem_id="crowd-currency"),
    }


def _build_texts() -> dict[str, Any]:
    return {
        "consent": gr.Textbox(label="Consent text", lines=6, elem_id="crowd-consent"),
        "guidelines": gr.Textbox(
            label="Guidelines; a line of --- begins a new page", lines=8, elem_id="crowd-guidelines"
        ),
        "service": gr.Radio(
            [("Sign-in", ""), ("Prolific links", "prolific"), ("MTurk links", "mturk")],
            label="How people come", elem_id="crowd-service",
        ),
        "code_done": gr.Textbox(label="Completion code", elem_id="crowd-done"),
        "code_screened": gr.Textbox(label="Code for who does not qualify", elem_id="crowd-screened"),
        "code_declined": gr.Textbox(label="Code for who does not consent", elem_id="crowd-declined"),
    }  # fmt: skip


def _values(plan: Plan, exam: str) -> dict[str, Any]:
    own = {name: getattr(plan, name) for name in ("per_instance", "batch", "quota", "reserve_minutes")}
    terms = {name: getattr(plan.terms, name) for name in Terms.__dataclass_fields__}
    return own | {"exam": exam} | terms


def _read(given: dict[str, Any]) -> Plan:
    whole: dict[str, Any] = {
        name: int(given[name] or 0) for name in ("per_instance", "batch", "quota", "reserve_minutes")
    }
    terms = {name: given[name] for name in Terms.__dataclass_fields__}
    terms |= {name: int(given[name] or 0) for name in ("max_tries", "warn_after", "block_after")}
    terms |= {name: str(given[name] or "") for name in ("consent", "guidelines", "service", "currency")}
    terms |= {
        name: str(given[name] or "").strip() for name in ("code_done", "code_screened", "code_declined")
    }
    terms |= {name: float(given[name] or 0) for name in ("hourly_rate", "pass_share")}
    return Plan(**whole, terms=Terms(**terms))


def _status(slug: str, plan: Plan | None, note: str) -> Any:
    if plan is None:
        text = "This task is open: everybody on the team gets every instance."
        return el("div.card", el("h4", "Giving out"), el("p", text), el("p.note", note) if note else None)
    link = {
        "prolific": f"s/{slug}?{PROLIFIC_QUERY}",
        "mturk": f"s/{slug}?workerId=…&assignmentId=…&hitId=…",
    }.get(plan.terms.service, f"s/{slug}")
    return el(
        "div.card",
        el("h4", f"This study is {plan.state}"),
        el("p", "People come in by ", el("code", link), ", below the address of this app."),
        el("p.note", note) if note else None,
    )
