"""Set-up, People: who works at the task, and how many people judge each instance."""

from __future__ import annotations

from collections.abc import Sequence

import gradio as gr

from coeval.domain import Member, Person
from coeval.study.people.teams import Team, get_team, set_team
from coeval.ui.components.view import Node, View, el, table
from coeval.ui.panel import Panel, Update, need_task, tell_done


class TeamBox(Panel):
    """The people of the task chosen above."""

    def build(self) -> None:
        with gr.Column(elem_classes="card", elem_id="team"):
            View(el("h4", "Who works at this task"))
            self.names = gr.Dropdown(
                [], label="People", info="Nobody chosen: everybody.", multiselect=True, elem_id="team-names"
            )
            self.per_instance = gr.Number(
                0,
                precision=0,
                minimum=0,
                maximum=1000,
                label="People for each instance (0: all of them)",
                elem_id="team-each",
            )
            save = gr.Button("Save who works", elem_id="team-save")
            self.state = View(elem_id="team-state")
        self.outputs = [self.names, self.per_instance, self.state]
        self.on(save.click, self.on_save, [self.names, self.per_instance])

    def show(self, person: Person, slug: str, members: Sequence[Member]) -> Update:
        """The box for a task; ``members`` are those who can be chosen."""
        team = get_team(self.context, person, slug) if slug else Team()
        known = [one.person.name for one in members if not one.disabled_at or one.person.name in team.members]
        return {
            self.names: gr.Dropdown(known, value=list(team.members)),
            self.per_instance: team.per_instance,
            self.state: _state_view(team),
        }

    def on_save(
        self, person: Person, slug: str, names: list[str] | None, per_instance: float | None
    ) -> Update:
        set_team(self.context, person, need_task(slug), names or [], int(per_instance or 0))
        tell_done("Saved who works at this task.")
        team = get_team(self.context, person, slug)
        return {
            self.names: list(team.members),
            self.per_instance: team.per_instance,
            self.state: _state_view(team),
        }


def _state_view(team: Team) -> Node:
    if not team.members:
        return el("p.note", "Everybody sees the task and judges every instance.")
    if not team.per_instance:
        return el("p.note", "These people see the task, and each of them judges every instance.")
    rows = [[name, f"{n:,}"] for name, n in team.given]
    return el(
        "div",
        el("p.note", "Outputs for the same input go to the same people. What was opened already stays as it is; "
           "instances imported later are shared out by themselves."),
        table(["Name", "Instances"], rows),
    )  # fmt: skip
