"""Criteria, "How to score": an owner writes the definition, the meanings of scores and examples of a criterion."""

from __future__ import annotations

from typing import Any

import gradio as gr

from coeval.domain import MAX_REMARK, CriteriaSet, Guide
from coeval.rules.criterion_guides import anchors_text


class GuideBox:
    """The form; the tab that it stands on listens to its events."""

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
                    placeholder="1: misses the point\n5: answers all that was asked",
                    lines=4,
                    max_length=MAX_REMARK,
                    elem_id="guide-anchors",
                )
                self.examples = gr.Textbox(
                    label="Examples (Markdown)", lines=4, max_length=MAX_REMARK, elem_id="guide-examples"
                )
            with gr.Row(elem_classes="actions"):
                self.save = gr.Button("Save", elem_id="guide-save", scale=0)
        self.texts = [self.definition, self.anchors, self.examples]
        self.outputs = [self.box, self.criterion, *self.texts]

    def choose(self, current: CriteriaSet | None, text: str | None) -> dict[Any, Any]:
        """The form for a criterion of the set; for its first one where there is none of that wording."""
        guides = {criterion.text: criterion.guide for criterion in current.criteria} if current else {}
        chosen = text if text in guides else next(iter(guides), None)
        guide = guides.get(chosen or "", Guide())
        return {
            self.criterion: gr.Dropdown(list(guides), value=chosen),
            self.definition: guide.definition,
            self.anchors: anchors_text(guide),
            self.examples: guide.examples,
        }
