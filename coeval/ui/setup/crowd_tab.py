"""Set-up, Crowd: distribute a task to a crowd, run, pause and close the study, and see its people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import gradio as gr

from coeval.domain import Person, Plan, Proof, Role, StudyState, Terms
from coeval.ui.components.number_words import plural
from coeval.ui.components.view import Node, View, el
from coeval.ui.setup.crowd_people import CrowdPeopleBox
from coeval.ui.setup.crowd_views import build_status
from coeval.ui.tabs import Form, PageGroup, Tab, Update, more_settings, need_task, read_line, tell_done
from coeval.usecases import tasks
from coeval.usecases.access import Context
from coeval.usecases.crowd import exams, plans

OWN = ("per_instance", "batch", "quota", "reserve_minutes")
"""Fields of the plan itself in the form; the other fields belong to its terms."""
NEW = Plan(StudyState.PLANNED, terms=Terms(proof=Proof.TOKEN))
"""The initial form values for a task without a plan."""
NO_EXAM = ("None", "")
OFF = "A crowd study assigns work to paid people who follow a link. This task has no crowd study."
SURE = {
    StudyState.PAUSED: "Pause the study? Nobody new can join, and no new work is assigned. People finish their "
    "current work.",
    StudyState.CLOSED: "Close the study? After that, nobody can save, not even people who are working now. "
    "Saved work stays.",
}
"""The text for an owner before the study pauses or closes."""
NEXT = {
    StudyState.PLANNED: (StudyState.RUNNING,),
    StudyState.RUNNING: (StudyState.PAUSED, StudyState.CLOSED),
    StudyState.PAUSED: (StudyState.RUNNING, StudyState.CLOSED),
    StudyState.CLOSED: (StudyState.RUNNING,),
}
"""The states that an owner can choose in each state."""


class CrowdTab(Tab):
    """The tab with the plan of a task for a crowd, its answer keys, its state and its people."""

    title, id = "Crowd", "crowd"
    group = PageGroup.PEOPLE
    purpose = "Assigns the work to paid people who follow a link, with an exam, attention checks and a completion code."

    @classmethod
    def is_used(cls, context: Context, person: Person, slug: str) -> bool:
        """Return whether the task has a plan for a crowd, or answer keys as an exam has."""
        if not slug or person.role is not Role.OWNER:
            return False
        return plans.get_plan(context, person, slug) is not None or exams.has_keys(context, person, slug)

    def build(self) -> None:
        with gr.Column(elem_classes="card", visible=False) as self.off:
            View(el("p", OFF))
            use = gr.Button("Use a crowd", variant="primary", elem_id="crowd-use", scale=0)
        with gr.Column(visible=False) as self.form:
            self.status = View(elem_id="crowd-status")
            with gr.Column(elem_classes="card"):
                fields = _build_main()
                self.estimate = View(elem_id="crowd-estimate")
                with more_settings("crowd-more"):
                    with gr.Row(equal_height=False):
                        with gr.Column():
                            fields |= _build_numbers()
                        with gr.Column():
                            fields |= _build_texts()
                    lines = [name for name in fields if name == "exam" or name.startswith("code_")]
                    self.fields = Form(dict.fromkeys(lines, read_line), components=fields)
                    renew = gr.Button("New secret for the address", elem_id="crowd-renew", scale=0)
                with gr.Row(elem_classes="actions"):
                    self.asks = {
                        state: gr.Button(_label(state), elem_id=f"crowd-{state}", scale=0)
                        for state in (StudyState.RUNNING, StudyState.PAUSED, StudyState.CLOSED)
                    }
                    save = gr.Button("Save the plan", variant="primary", elem_id="crowd-save", scale=0)
            self._build_sure()
        self.keys, set_keys = _build_keys()
        # a clock in a hidden column does not tick, so the people are not in the form's
        self.people = CrowdPeopleBox(self.context, self.task)
        parts = [self.off, self.form, self.status, self.estimate, self.keys, *self.fields.inputs]
        self.outputs = [*parts, *self.asks.values(), *self.people.outputs]
        self._wire_sure()
        self.on(set_keys.click, self.on_keys, [self.keys])
        self.on(use.click, self.on_use, outputs=[self.off, self.form])
        for name in ("per_instance", "hourly_rate", "currency"):
            self.on(fields[name].input, self.on_estimate, self.fields.inputs, self.estimate, quiet=True)
        self.on(renew.click, self.on_renew)
        saved = self.on(save.click, self.on_save, self.fields.inputs)
        self.wanted_after = [saved.then]

    def _build_sure(self) -> None:
        """Build the confirmation before a change of state, with a button only for the requested state."""
        with gr.Column(elem_classes="card", elem_id="crowd-sure", visible=False) as self.sure:
            self.question = View(elem_id="crowd-question")
            with gr.Row(elem_classes="actions"):
                self.leave = gr.Button("Leave it as it is", elem_id="crowd-leave", scale=0, min_width=160)
                self.yes = {
                    state: gr.Button(
                        f"Yes: {_label(state).lower()} it",
                        elem_id=f"crowd-{state}-yes",
                        scale=0,
                        min_width=160,
                        variant="stop" if state is StudyState.CLOSED else "primary",
                    )
                    for state in self.asks
                }

    def _wire_sure(self) -> None:
        shown = [self.sure, self.question, *self.yes.values()]
        for state, button in self.asks.items():
            self.on(button.click, partial(self.on_ask, state), outputs=shown)
        for state, button in self.yes.items():
            self.on(button.click, partial(self.on_state, state), outputs=[*self.outputs, self.sure])
        self.on(self.leave.click, self.on_leave, outputs=[self.sure])

    def load(self, person: Person, slug: str, note: str = "") -> Update:
        if not slug:
            shown = el("p.note", "Describe a task first, under Tasks.")
            return {
                self.status: shown,
                self.off: gr.Column(visible=False),
                self.form: gr.Column(visible=True),
                self.keys: "",
                **self.people.load(person, slug),
            }
        plan = plans.get_plan(self.context, person, slug)
        listed = tasks.list_tasks(self.context, person)
        exam = next((task.slug for task in listed if plan and task.id == plan.exam), "")
        tests = [
            NO_EXAM,
            *((f"{task.name} ({task.slug})", task.slug) for task in listed if task.slug != slug),
        ]
        secret = plans.get_link(self.context, person, slug) if plan else ""
        show, stands = self.fields.show, plan or NEW
        if note:
            tell_done(note)
        shows = plan is not None or bool(note)
        return {
            self.off: gr.Column(visible=not shows),
            self.form: gr.Column(visible=shows),
            **{
                button: gr.Button(visible=plan is not None and state in NEXT[plan.state])
                for state, button in self.asks.items()
            },
            self.status: build_status(slug, plan, secret, self.context.settings),
            self.estimate: self._tell_cost(person, slug, stands),
            # what is typed there stays after an action on the same task
            **({} if note else {self.keys: exams.export_keys(self.context, person, slug)}),
            **show(stands, OWN),
            **show(stands.terms, self.fields.components.keys() - {*OWN, "exam"}),
            self.fields["exam"]: gr.Dropdown(tests, value=exam),
            **self.people.load(person, slug),
        }

    def on_use(self, person: Person, slug: str) -> Update:
        need_task(slug)
        return {self.off: gr.Column(visible=False), self.form: gr.Column(visible=True)}

    def on_estimate(self, person: Person, slug: str, *values: Any) -> Node:
        return self._tell_cost(person, need_task(slug), self._read(NEW, values)[0])

    def _tell_cost(self, person: Person, slug: str, plan: Plan) -> Node:
        return el("p", plans.tell_cost(plans.preview_run(self.context, person, slug, plan)))

    def _read(self, before: Plan, values: Sequence[Any]) -> tuple[Plan, str]:
        """Return the plan that the form holds, and the short name of its exam."""
        terms = self.fields.read(values)
        exam, fields = terms.pop("exam"), {name: terms.pop(name) for name in OWN}
        if terms["service"] == "mturk" and terms["proof"] == Proof.TOKEN:
            terms["proof"] = Proof.LINK.value  # only Prolific signs its links
        # link_version stays unchanged
        return replace(before, **fields, terms=replace(before.terms, **terms)), exam

    def on_save(self, person: Person, slug: str, *values: Any) -> Update:
        plan, exam = self._read(plans.get_plan(self.context, person, need_task(slug)) or NEW, values)
        saved = plans.set_plan(self.context, person, slug, plan, exam=exam)
        waited = f" {plural(saved.admitted, 'person', 'people')} who waited for review: admitted."
        planned = " Nothing changes for the team until you press Run."
        note = "The plan is saved." + (planned if saved.plan.state is StudyState.PLANNED else "")
        return self.load(person, slug, note + (waited if saved.admitted else ""))

    def on_renew(self, person: Person, slug: str) -> Update:
        plans.renew_link(self.context, person, need_task(slug))
        note = "The address has a new secret: copy it to the crowd service. The old address no longer works."
        return self.load(person, slug, note)

    def on_keys(self, person: Person, slug: str, text: str | None) -> Update:
        n = exams.set_keys(self.context, person, need_task(slug), text or "")
        tell_done(f"{plural(n, 'answer key is', 'answer keys are')} set.")
        return {self.keys: exams.export_keys(self.context, person, slug)}

    def on_ask(self, state: StudyState, person: Person, slug: str) -> Update:
        need_task(slug)
        said = (
            [SURE[state]] if state in SURE else plans.tell_run(plans.preview_run(self.context, person, slug))
        )
        return {
            self.sure: gr.Column(visible=True),
            self.question: el("div", *(el("p", text) for text in said)),
            **{button: gr.Button(visible=target is state) for target, button in self.yes.items()},
        }

    def on_leave(self, person: Person, slug: str) -> Update:
        return {self.sure: gr.Column(visible=False)}

    def on_state(self, state: StudyState, person: Person, slug: str) -> Update:
        plans.set_state(self.context, person, need_task(slug), state)
        return {**self.load(person, slug, f"The study is {state}."), self.sure: gr.Column(visible=False)}


def _build_keys() -> tuple[gr.Textbox, gr.Button]:
    with more_settings("crowd-keys-box", "Answer keys"):
        keys = gr.Textbox(
            lines=6, label="CSV: instance, criterion, accepted, must, explanation", elem_id="crowd-keys",
            placeholder="instance,criterion,accepted,must,explanation\n12,1,4 5,,The summary names each cause.",
            info="In an exam, these are the right answers. In a study, these instances are attention checks: "
            "at most one in a batch, and none in a batch that is shorter than the others. "
            "criterion: its number or its text. accepted: every right score, separated by spaces. must: the numbers "
            "of the drafted lines that a person has to delete or revise; blank without drafts.",
        )  # fmt: skip
        return keys, gr.Button("Set the keys", elem_id="crowd-keys-save")


def _label(state: StudyState) -> str:
    return {StudyState.RUNNING: "Run", StudyState.PAUSED: "Pause", StudyState.CLOSED: "Close"}[state]


def _build_main() -> dict[str, Any]:
    """Return the fields that every crowd study fills in."""
    with gr.Row():
        numbers = {
            "per_instance": _number("People per instance", "k"),
            "batch": _number("Instances per batch", "batch"),
            "quota": _number("Instance limit per person", "quota"),
            "hourly_rate": gr.Number(label="Pay per hour", minimum=0, elem_id="crowd-rate"),
            "currency": gr.Textbox(label="Currency", max_length=8, elem_id="crowd-currency"),
        }
    return numbers | {
        "exam": gr.Dropdown(
            [NO_EXAM], value="", label="Qualification exam", elem_id="crowd-exam",
            info="Another task with answer keys. To write them, choose that task above, turn on Crowd under More "
            "tools, and open Answer keys here.",
        ),
        "consent": gr.Textbox(label="Consent text", lines=4, elem_id="crowd-consent"),
        "guidelines": gr.Textbox(
            label="Guidelines", info="A line of --- starts a new page.", lines=5, elem_id="crowd-guidelines"
        ),
        "service": gr.Radio(
            [("Sign-in", ""), ("Prolific links", "prolific"), ("Links with ids", "mturk")],
            label="How people arrive", elem_id="crowd-service",
            info="Links with ids need the ids of Mechanical Turk: a workerId is A, then 7 to 39 letters or digits.",
        ),
        "code_done": gr.Textbox(label="Completion code", elem_id="crowd-done", info="Letters and digits only."),
    }  # fmt: skip


def _number(label: str, name: str, **options: Any) -> gr.Number:
    return gr.Number(label=label, precision=0, minimum=1, elem_id=f"crowd-{name}", **options)


def _build_numbers() -> dict[str, Any]:
    number = _number
    return {
        "reserve_minutes": number("Minutes until unfinished work is reassigned", "reserve"),
        "enough": gr.Number(
            label="Instances for the completion code", precision=0, minimum=0,
            elem_id="crowd-enough",
            info="0 uses the limit per person. People who finish fewer get the code for partial work.",
        ),
        "pass_share": gr.Slider(
            0.05, 1, step=0.05, label="Pass mark", info="The share of the items that must be right.",
            elem_id="crowd-pass",
        ),
        "max_tries": number("Attempts at the qualification", "tries"),
        "exam_items": gr.Number(
            label="Items in one attempt", precision=0, minimum=0,
            elem_id="crowd-items",
            info="0 uses all. If the exam has more items than this, a second attempt shows new ones.",
        ),
        "review": gr.Checkbox(label="An owner reviews everyone who passes", elem_id="crowd-review"),
        "warn_after": number("Failed attention checks before a warning", "warn"),
        "block_after": number("Failed attention checks before removal", "block"),
    }  # fmt: skip


def _build_texts() -> dict[str, Any]:
    return {
        "proof": gr.Radio(
            [("Prolific’s secure links (recommended)", Proof.TOKEN.value),
             ("A secret in the address", Proof.LINK.value), ("Nothing", Proof.NONE.value)],
            label="Link verification", elem_id="crowd-proof",
            info="Prolific’s signed links identify each person. A secret identifies only the study, so "
            "people return with their browser or a code.",
        ),
        "code_part": gr.Textbox(
            label="Code for partial work", info="Leave blank for the code if the study is full.", elem_id="crowd-part"
        ),
        "code_screened": gr.Textbox(label="Code if not qualified", elem_id="crowd-screened"),
        "code_declined": gr.Textbox(label="Code if consent is declined", elem_id="crowd-declined"),
        "code_full": gr.Textbox(
            label="Code if the study is full", info="Leave blank for the code if not qualified.", elem_id="crowd-full"
        ),
        "code_blocked": gr.Textbox(
            label="Code for failed attention checks",
            info="Leave blank to ask people to return the work.",
            elem_id="crowd-blocked",
        ),
    }  # fmt: skip
