"""What fills the variables of templates: the task, the criterion, its scale, and the sample."""

from __future__ import annotations

from collections.abc import Sequence

from coeval.domain import Criterion, Instance, Scale, Task
from coeval.llm.prompting.fencing import render_reference, render_sample
from coeval.llm.prompting.options import JudgeOptions
from coeval.llm.prompting.template_files import load_template
from coeval.rules.criterion_guides import guide_text


def render_scale(scale: Scale) -> str:
    """The scale in words, the same for the model and for people.

    >>> render_scale(Scale(1, 3))
    'whole numbers from 1 (lowest) to 3 (highest)'
    """
    return f"whole numbers from {scale.low} (lowest) to {scale.high} (highest)"


def render_criterion(criterion: Criterion) -> str:
    """The criterion as people see it: its name, unless the text begins with it, and its text."""
    name, text = criterion.name.strip(), criterion.text.strip()
    return text if not name or text.lower().startswith(name.lower()) else f"{name}: {text}"


def render_guided(criterion: Criterion) -> str:
    """The criterion with its definition, the meanings of its scores and its examples, as far as it has them."""
    return "\n".join(filter(None, (render_criterion(criterion), guide_text(criterion.guide))))


def render_question(criterion: Criterion, task: Task) -> str:
    """The question of a free-text judge: the criterion's own, or how well the output meets it.

    >>> render_question(Criterion("Be clear."), Task("t", "T"))
    'How well does the Output meet the criterion, on a scale from 1 to 5?'
    """
    scale = f"on a scale from {criterion.scale.low} to {criterion.scale.high}"
    own = criterion.question.strip()
    return (
        f"{own} Answer {scale}."
        if own
        else f"How well does the {task.output_field} meet the criterion, {scale}?"
    )


def list_criteria(criteria: Sequence[Criterion]) -> str:
    """Criteria as a numbered list, each with its scale."""
    return "\n".join(
        f"[{number}] {render_criterion(criterion)} Scale: {render_scale(criterion.scale)}."
        + (f"\n{guide}" if (guide := guide_text(criterion.guide)) else "")
        for number, criterion in enumerate(criteria, 1)
    )


def number_criteria(criteria: Sequence[Criterion]) -> dict[str, int]:
    """The number under which such a list has each criterion, by its text and by its name."""
    return {
        key: number
        for number, criterion in enumerate(criteria, 1)
        for key in (criterion.text, criterion.name)
        if key
    }


def task_values(task: Task) -> dict[str, object]:
    """The variables that every template has: what is known of the task."""
    guidelines = task.guidelines.strip()
    return {
        "description": task.description.strip() or task.name,
        "guidelines": f"## Guidelines\n{guidelines}" if guidelines else "",
        "input_field": f"the {task.input_field}",
        "output_field": f"the {task.output_field}",
    }


def scale_values(scale: Scale) -> dict[str, object]:
    """The variables of a scale."""
    return {"low": scale.low, "high": scale.high, "scale": render_scale(scale)}


def render_case(
    task: Task, criterion: Criterion, instance: Instance, options: JudgeOptions
) -> dict[str, object]:
    """The variables of a question about one instance by one criterion; ``case`` is what they have in common."""
    steps = options.steps.get(criterion.text, "").strip()
    values = task_values(task) | scale_values(criterion.scale)
    values |= {"criterion": render_guided(criterion), "reference": render_reference(task, instance)}
    values["question"] = render_question(criterion, task)
    values["sample"] = render_sample(task, instance, reference=options.reference)
    values["steps"] = f"## Evaluation steps\n{steps}" if steps else ""
    values["case"] = load_template("case", options.templates).render(values)
    return values


def render_cases(
    task: Task, criteria: Sequence[Criterion], instance: Instance, options: JudgeOptions
) -> dict[str, object]:
    """The variables of a question about one instance by several criteria, which are numbered from 1."""
    values = task_values(task) | {"criteria": list_criteria(criteria)}
    values["sample"] = render_sample(task, instance, reference=options.reference)
    values["reference"] = render_reference(task, instance)
    steps = [
        f"[{number}]\n{text}"
        for number, criterion in enumerate(criteria, 1)
        if (text := options.steps.get(criterion.text, "").strip())
    ]
    values["steps"] = "\n\n".join(["## Evaluation steps", *steps]) if steps else ""
    values["case"] = load_template("cases", options.templates).render(values)
    return values
