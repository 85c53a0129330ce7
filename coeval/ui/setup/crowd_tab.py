"""Set-up, Crowd: how a task is given out to strangers, and running, pausing and closing it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import gradio as gr

from coeval.domain import Person, Plan, Proof, StudyState, Terms
from coeval.study import tasks
from coeval.study.crowd import exams, plans
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.view import View, el
from coeval.ui.panel import Tab, Update, need_task
from coeval.ui.setup.crowd_views import build_status

OWN = ("per_instance", "batch", "quota", "reserve_minutes")
"""Fields of the plan itself, as the form shows them; the others are of its terms."""
NEW = Plan(terms=Terms(proof=Proof.LINK))
"""What the form of a task without a plan begins with."""


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
            renew = gr.Button("New secret for the address", elem_id="crowd-renew", scale=0, min_width=240)
            self.on(renew.click, self.on_renew)
            save = gr.Button(
                "Save the plan",
                variant="primary",
                elem_id="crowd-save",
                scale=0,
                min_width=280,
            )
        self.on(save.click, self.on_save, list(self.fields.values()))
        self._build_keys()

    def _build_keys(self) -> None:
        with gr.Accordion("Answer keys for the exam and for attention checks", open=False):
            keys = gr.Textbox(
                lines=6, label="CSV: instance, criterion, accepted, must, explanation", elem_id="crowd-keys",
                info="For the task chosen above: the exam's key on an exam's task, attention checks on a study's.",
            )  # fmt: skip
            save = gr.Button("Set the keys", elem_id="crowd-keys-save")
        self.on(save.click, self.on_keys, [keys])

    def load(self, person: Person, slug: str, note: str = "") -> Update:
        if not slug:
            return {self.status: el("p.note", "Describe a task first, under Tasks.")}
        plan = plans.get_plan(self.context, person, slug)
        known = tasks.list_tasks(self.context, person)
        exam = next((task.slug for task in known if plan and task.id == plan.exam), "")
        secret = plans.get_link(self.context, person, slug) if plan else ""
        values = _values(plan or NEW, exam)
        return {
            self.status: build_status(slug, plan, note, secret, self.context.settings.public_url),
            **{self.fields[name]: value for name, value in values.items()},
        }

    def on_save(self, person: Person, slug: str, *values: Any) -> Update:
        given = dict(zip(self.fields, values, strict=True))
        before = plans.get_plan(self.context, person, need_task(slug)) or NEW
        exam = str(given["exam"] or "").strip()
        saved = plans.set_plan(self.context, person, slug, _read(given, before), exam=exam)
        waited = f" {plural(saved.admitted, 'person', 'people')} who waited for review: admitted."
        return self.load(person, slug, "The plan is saved." + (waited if saved.admitted else ""))

    def on_renew(self, person: Person, slug: str) -> Update:
        plans.renew_link(self.context, person, need_task(slug))
        note = "The address has a new secret: copy it to the crowd service. The old address no longer works."
        return self.load(person, slug, note)

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
        "batch": number("Instances per batch", "batch"),
        "quota": number("Most instances per person", "quota"),
        "reserve_minutes": number("Reassign unfinished work after (minutes)", "reserve"),
        "exam": gr.Textbox(label="Qualification: short name of its task (empty: none)", elem_id="crowd-exam"),
        "pass_share": gr.Slider(0.05, 1, step=0.05, label="Pass mark (share of the items)", elem_id="crowd-pass"),
        "max_tries": number("Attempts at the qualification", "tries"),
        "exam_items": gr.Number(
            label="Items in one attempt (0: all)", precision=0, minimum=0,
            elem_id="crowd-items",
            info="If its task holds more items than this, a second attempt shows new ones.",
        ),
        "review": gr.Checkbox(label="An owner reviews everyone who passes", elem_id="crowd-review"),
        "warn_after": number("Failed attention checks before a warning", "warn"),
        "block_after": number("Failed attention checks before removal", "block"),
        "hourly_rate": gr.Number(label="Pay per hour", minimum=0, elem_id="crowd-rate"),
        "currency": gr.Textbox(label="Currency", max_length=8, elem_id="crowd-currency"),
    }  # fmt: skip


def _build_texts() -> dict[str, Any]:
    return {
        "consent": gr.Textbox(label="Consent text", lines=6, elem_id="crowd-consent"),
        "guidelines": gr.Textbox(
            label="Guidelines (a line of --- starts a new page)", lines=8, elem_id="crowd-guidelines"
        ),
        "service": gr.Radio(
            [("Sign-in", ""), ("Prolific links", "prolific"), ("MTurk links", "mturk")],
            label="How people arrive", elem_id="crowd-service",
        ),
        "proof": gr.Radio(
            [("A secret in the address", Proof.LINK.value), ("Prolific’s secure links", Proof.TOKEN.value),
             ("Nothing", Proof.NONE.value)],
            label="How a link is verified", elem_id="crowd-proof",
        ),
        "code_done": gr.Textbox(label="Completion code", elem_id="crowd-done"),
        "code_screened": gr.Textbox(label="Code if not qualified", elem_id="crowd-screened"),
        "code_declined": gr.Textbox(label="Code if consent is declined", elem_id="crowd-declined"),
        "code_full": gr.Textbox(
            label="Code if the study is full (empty: the code if not qualified)", elem_id="crowd-full"
        ),
        "code_blocked": gr.Textbox(
            label="Code if attention checks are failed (empty: asked to return)",
            elem_id="crowd-blocked",
        ),
    }  # fmt: skip


def _values(plan: Plan, exam: str) -> dict[str, Any]:
    own = {name: getattr(plan, name) for name in OWN}
    terms = {name: getattr(plan.terms, name) for name in Terms.__dataclass_fields__ if name != "link_version"}
    return own | {"exam": exam} | terms


def _read(given: dict[str, Any], before: Plan) -> Plan:
    """The plan of the form; what the form does not show stays as it was."""
    whole: dict[str, Any] = {name: int(given[name] or 0) for name in OWN}
    terms: dict[str, Any] = {"review": bool(given["review"])}
    terms |= {
        name: int(given[name] or 0) for name in ("max_tries", "warn_after", "block_after", "exam_items")
    }
    terms |= {
        name: str(given[name] or "") for name in ("consent", "guidelines", "service", "currency", "proof")
    }
    terms |= {name: str(given[name] or "").strip() for name in given if name.startswith("code_")}
    terms |= {name: float(given[name] or 0) for name in ("hourly_rate", "pass_share")}
    return replace(before, **whole, terms=replace(before.terms, **terms))
