"""The Criteria tab: calling off the vote that is open."""

from __future__ import annotations

import gradio as gr

from coeval.domain import CriteriaSet
from coeval.rules.ballots import Tally
from coeval.study.criteria.rounds import RoundState
from coeval.ui.components.estimate_words import plural
from coeval.ui.components.view import Node, View, el
from coeval.ui.panel import Update


class CancelBox:
    """Says what stands once the vote is cancelled, and the button."""

    def __init__(self) -> None:
        with gr.Accordion("Cancel this vote", open=False, visible=False, elem_id="cancel-box") as self.box:
            self.says = View()
            self.cancel = gr.Button("Cancel the vote", variant="stop", elem_id="cancel-vote")
        self.round = gr.State(None)
        self.outputs = [self.box, self.says, self.round]

    def update(self, round_: RoundState | None, current: CriteriaSet | None, tally: Tally | None) -> Update:
        """The box for an open round; hidden where there is none."""
        if round_ is None:
            return {self.box: gr.Accordion(visible=False)}
        return {
            self.box: gr.Accordion(visible=True),
            self.says: _says(current, tally.n_ballots if tally else 0),
            self.round: round_.id,
        }


def _says(current: CriteriaSet | None, n_ballots: int) -> Node:
    stays = f"Version {current.version} stays in force." if current else "There are then no criteria yet."
    kept = (
        f" {plural(n_ballots, 'ballot')} will no longer count, but stay in the export." if n_ballots else ""
    )
    return el("p.note", stays + kept)
