"""From what a study holds to what stands in ``judge.json``, part by part."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from coeval.domain import Criterion, Instance, Task
from coeval.errors import InputError
from coeval.judge.artifact.schema import Asking, JudgeCriterion, JudgeTask, Question, Sample
from coeval.judge.parts import mark_document
from coeval.llm.prompting.template_files import read_whole
from coeval.llm.protocols.protocol import Protocol, Questions


def describe_task(task: Task) -> JudgeTask:
    """A task as the file has it: what a question says of it, and what columns a judge may see."""
    return JudgeTask(
        name=task.name[:200],
        description=task.description,
        input_field=task.input_field,
        output_field=task.output_field,
        guidelines=task.guidelines,
        columns={name: role for name, role in task.columns.items() if role.judge_sees},
    )


def describe_criterion(criterion: Criterion) -> JudgeCriterion:
    """A criterion as the file has it."""
    return JudgeCriterion(
        text=criterion.text,
        name=criterion.name,
        low=criterion.scale.low,
        high=criterion.scale.high,
        question=criterion.question,
        definition=criterion.guide.definition,
        anchors=dict(criterion.guide.anchors),
        examples=criterion.guide.examples,
    )


def describe_asking(judge: str, protocol: Protocol, endpoint: str = "", *, supplied: bool = False) -> Asking:
    """How one judge asks, with every prompt text of its protocol.

    Args:
        judge: what the fitted parts call it.
        endpoint: the address that answered, without secrets (``coeval.settings.show_address``).
        supplied: whether the owner says that it asks so, and no answer of it was seen.

    Raises:
        InputError: the protocol compares outputs or needs assistants, which a file cannot hold.
    """
    if protocol.compares or protocol.uses_assistants:
        raise InputError(
            f"A judge.json holds a judge that scores outputs by itself; {protocol.name} does not: use another protocol."
        )
    options = protocol.options
    texts = {name: read_whole(name, options.templates) for name in dict.fromkeys(protocol.prompt_templates)}
    return Asking(
        judge=judge,
        supplied=supplied,
        model=options.model,
        endpoint=endpoint,
        protocol=options.protocol,
        samples=protocol.answers,
        temperature=options.temperature,
        top_p=options.top_p,
        max_tokens=options.max_tokens,
        reasoning_effort=options.reasoning_effort,
        persona=options.persona,
        logprobs=options.logprobs,
        reference=options.reference,
        criteria_per_call=options.criteria_per_call,
        steps={text: steps for text, steps in options.steps.items() if steps},
        templates=texts,
        prompt_hash=protocol.prompt_hash,
    )


def describe_questions(
    judge: str,
    protocol: Protocol,
    instance: Instance,
    scores: Mapping[int, tuple[float, ...]],
    salt: str,
    *,
    texts: bool = False,
) -> list[Question]:
    """The questions about one instance that were answered, for ``judge check`` to ask again.

    Args:
        protocol: the judge's, as it asked: its brief's criteria hold the examples that were shown.
        scores: the scores of the answers by the number of their criterion in the protocol's brief.
        texts: whether the file is to hold the texts themselves.
    """
    sample = Sample(
        input=instance.input,
        output=instance.output,
        reference=instance.reference,
        context={n: t for n, t in instance.context.items() if n in protocol.task.columns},
    )
    numbers = list(protocol.brief.criteria) if protocol.options.criteria_per_call != 1 else list(scores)
    items = protocol.group((instance.id, number) for number in numbers)
    return [
        Question(
            judge=judge,
            criterion=protocol.brief.criteria[number].text,
            document=mark_document(instance.document, salt),
            output=mark_output(instance, salt),
            request=hash_questions(protocol.render_calls(item, instance)),
            scores=scores[number],
            sample=sample if texts else None,
        )
        for item in items
        for number in item.criteria
        if scores.get(number)
    ]


def mark_output(instance: Instance, salt: str) -> str:
    """The salted hash of an input with its output, by which the same pair is known again."""
    return mark_document(f"{instance.input}\x1e{instance.output}", salt)


def hash_questions(questions: Questions) -> str:
    """One SHA-256 over the requests of an item, whatever the number of their samples."""
    hashes = sorted({request.hash for request, _ in questions})
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()
