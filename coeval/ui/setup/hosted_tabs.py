"""Set-up's tabs for a hosted study: Crowd, Crowd people, Hosting."""

from __future__ import annotations

import gradio as gr

from coeval.study.access import Context
from coeval.ui.setup.crowd_people_tab import build_crowd_people_tab
from coeval.ui.setup.crowd_tab import build_crowd_tab
from coeval.ui.setup.hosting_tab import build_hosting_tab


def build_hosted_tabs(context: Context, task: gr.Dropdown) -> None:
    """Build the tabs; each loads itself when it is opened, and when another task is shown."""
    with gr.Tab("Crowd", id="crowd") as crowd_tab:
        load_crowd = build_crowd_tab(context, task)
    with gr.Tab("Crowd people", id="crowd-people") as people_tab:
        load_people = build_crowd_people_tab(context, task)
    with gr.Tab("Hosting", id="hosting") as hosting_tab:
        load_hosting = build_hosting_tab(context)
    for event in (crowd_tab.select, task.change):
        load_crowd(event)
    for event in (people_tab.select, task.change):
        load_people(event)
    load_hosting(hosting_tab.select)
