"""The fields of ``judge.json``, and the functions that make each part from a study.

No field holds a key, an address with a password, or a person: people are only counted. Documents are salted hashes,
which match labels and examples to a known text, but do not reveal an unknown one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, JsonValue, model_validator

from coeval.domain import ColumnRole, Criterion, Guide, Instance, Scale, Task
from coeval.errors import InputError
from coeval.extensions.judge.model.fitted import Fitted
from coeval.llm.prompting.questions import Name, Part, Text, mark_document
from coeval.llm.prompting.template_files import JUDGE_SETTINGS, read_whole
from coeval.llm.protocols.protocol import Protocol, Questions, build_protocol

KIND: Literal["coeval-judge"] = "coeval-judge"
VERSION: Literal[3] = 3

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
TemplateName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,60}$")]
Template = Annotated[str, Field(min_length=1, max_length=100_000)]
Word = Annotated[str, Field(max_length=200)]
Score = Annotated[int, Field(ge=-1000, le=1000)]


class JudgeTask(Part):
    """The task of the outputs, as every question to the model describes it."""

    name: Word
    description: Text = ""
    input_field: Word = "Input"
    output_field: Word = "Output"
    guidelines: Text = ""
    columns: Annotated[dict[Word, ColumnRole], Field(max_length=200)] = {}
    """The role of each additional input column. Other columns are hidden."""

    def build(self) -> Task:
        """Return the task for the protocols."""
        return Task(
            "judge",
            self.name,
            self.description,
            self.input_field,
            self.output_field,
            self.guidelines,
            columns=self.columns,
        )


class JudgeCriterion(Part):
    """A criterion with its scale and guide. ``anchors`` gives the meanings of scores."""

    text: Name
    name: Word = ""
    low: Score = 1
    high: Score = 5
    question: Text = ""
    definition: Text = ""
    anchors: Annotated[dict[int, Text], Field(max_length=100)] = {}
    examples: Text = ""

    @model_validator(mode="after")
    def _has_a_scale(self) -> JudgeCriterion:
        if not self.low < self.high <= self.low + 100:
            raise ValueError(f"the scale from {self.low} to {self.high} must rise, by no more than 100 steps")
        return self

    def build(self) -> Criterion:
        """Return the criterion for the protocols."""
        guide = Guide(self.definition, tuple(sorted(self.anchors.items())), self.examples)
        scale = Scale(self.low, self.high)
        return Criterion(self.text, self.name, scale=scale, question=self.question, guide=guide)


KEPT_SETTINGS = tuple(name for name in JUDGE_SETTINGS if not name.startswith("explain"))
"""The settings of a judge that its file keeps, each a field of ``Asking``. A judge gives scores and no words."""


class Asking(Part):
    """One model and its settings: a single judge, or a member of a jury."""

    judge: Name
    """Its name in the fitted parts."""
    supplied: bool = False
    """True if its scores were imported. Its settings are then an untested statement of the owner."""
    model: Annotated[str, Field(min_length=1, max_length=500)]
    endpoint: Annotated[str, Field(max_length=2000, pattern=r"^[^@?#]*$")] = ""
    """The endpoint's address in the study, without secrets and parameters, for information only."""
    protocol: Word = "coeval"
    samples: Annotated[int, Field(ge=1, le=100)] | None = None
    temperature: Annotated[float, Field(ge=0, le=10)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    reasoning_effort: Word = ""
    persona: Word = ""
    logprobs: bool = False
    reference: bool = False
    criteria_per_call: Annotated[int, Field(ge=0, le=1000)] = 1
    steps: Annotated[dict[Name, Text], Field(max_length=1000)] = {}
    """Evaluation steps by the text of their criterion."""
    templates: Annotated[dict[TemplateName, Template], Field(max_length=50)]
    """The full text of each prompt template, by name."""
    prompt_hash: Hash
    """The SHA-256 over these texts, as recorded with the run in the study."""


class Label(Part):
    """The scores of people and the judge for one output and criterion. A gate uses them to correct means.

    ``document`` and ``output`` are salted hashes (``mark_document``); ``score`` is the judge's calibrated score.
    """

    document: Hash
    output: Hash
    system: Word = ""
    criterion: Name
    people: float
    """The mean of people's scores."""
    n_people: Annotated[int, Field(ge=1, le=100_000)]
    raw: float
    score: float


class Sample(Part):
    """The texts of one question, if the owner chose to include them."""

    input: Text
    output: Text
    reference: Text = ""
    context: Annotated[dict[Word, Text], Field(max_length=200)] = {}


class Question(Part):
    """A question of the certificate, with the scores of its original answers.

    ``output`` is the salted hash of the judged text. A repeated question must use the same text.
    """

    judge: Name
    criterion: Name
    document: Hash
    output: Hash
    request: Hash
    """The hash of the whole question (``Request.hash``), which ensures that exactly this question is repeated."""
    scores: Annotated[tuple[float, ...], Field(min_length=1, max_length=100)]
    sample: Sample | None = None


class Hashes(Part):
    """SHA-256 hashes of the judge's sources, or "" if unknown."""

    data: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    """The scores of people and judges that it learned from."""
    criteria: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    code: Word = ""
    """The version of CoEval that fitted it."""


class JudgeFile(Part):
    """A judge: its criteria, its settings, its learned parts, and its agreement with people."""

    model_config = ConfigDict(title="A judge of CoEval (judge.json)")

    kind: Literal["coeval-judge"] = KIND
    version: Literal[3] = VERSION
    name: Annotated[str, Field(min_length=1, max_length=200)]
    made_at: Annotated[str, Field(max_length=40)] = ""
    """The time in UTC, such as 2026-01-31T12:00:00Z."""
    salt: Annotated[str, Field(min_length=16, max_length=200)]
    """The salt of the hashes of documents and outputs in this file."""
    task: JudgeTask
    criteria: Annotated[tuple[JudgeCriterion, ...], Field(min_length=1, max_length=1000)]
    judges: Annotated[tuple[Asking, ...], Field(min_length=1, max_length=100)]
    fitted: Fitted = Fitted()
    certificate: Annotated[dict[str, JsonValue], Field(max_length=1000)] | None = None
    labels: Annotated[tuple[Label, ...], Field(max_length=200_000)] = ()
    questions: Annotated[tuple[Question, ...], Field(max_length=10_000)] = ()
    hashes: Hashes = Hashes()
    hash: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    """The SHA-256 of all other content (``hash_content``). A changed file is refused."""

    @model_validator(mode="after")
    def _fits_together(self) -> JudgeFile:
        texts = [criterion.text for criterion in self.criteria]
        names = [asking.judge for asking in self.judges]
        _require(len(set(texts)) == len(texts), "two criteria have the same text")
        _require(len(set(names)) == len(names), "two judges have the same name")
        for part, used in self._criteria_used().items():
            unknown = sorted(used - set(texts))
            _require(
                not unknown,
                f"{part} name the criterion “{unknown[0][:60] if unknown else ''}”, which is none",
            )
        asked = {question.judge for question in self.questions}
        if self.fitted.jury:
            benches = self.fitted.jury.benches.values()
            asked |= {member.judge for bench in benches for member in bench.members}
        unknown = sorted(asked - set(names))
        _require(
            not unknown, f"“{unknown[0][:60] if unknown else ''}” is named as a judge, and is none of them"
        )
        return self

    def _criteria_used(self) -> dict[str, set[str]]:
        fitted = self.fitted
        return {
            "the examples": {example.criterion for example in fitted.examples},
            "the jury's benches": set(fitted.jury.benches) if fitted.jury else set(),
            "the calibration's maps": set(fitted.calibration.maps) if fitted.calibration else set(),
            "the labels": {label.criterion for label in self.labels},
            "the questions": {question.criterion for question in self.questions},
        }


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def render_json_schema() -> str:
    """Return the published JSON Schema of ``judge.json``."""
    schema: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(schema | JudgeFile.model_json_schema(), ensure_ascii=False, indent=1) + "\n"


# The functions below build each part of ``judge.json`` from a study.


def describe_task(task: Task) -> JudgeTask:
    """Describe a task for the file: its texts in questions, and the columns that a judge may see."""
    return JudgeTask(
        name=task.name[:200],
        description=task.description,
        input_field=task.input_field,
        output_field=task.output_field,
        guidelines=task.guidelines,
        columns={name: role for name, role in task.columns.items() if role.judge_sees},
    )


def describe_criterion(criterion: Criterion) -> JudgeCriterion:
    """Return the criterion in the form of ``judge.json``."""
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
    """Describe the settings of one judge, with all prompt texts of its protocol.

    Args:
        judge: its name in the fitted parts.
        endpoint: the endpoint's address, without secrets (``coeval.settings.show_address``).
        supplied: whether these settings are an untested statement of the owner.

    Raises:
        InputError: the protocol compares outputs or needs assistants, which a file does not support.
    """
    if protocol.compares or protocol.uses_assistants:
        raise InputError(
            f"A judge.json needs a protocol that scores single outputs, and {protocol.name} does not: use "
            "another protocol."
        )
    options = replace(protocol.options, explain="")  # a judge gives scores and no words
    protocol = build_protocol(replace(protocol.brief, options=options))
    texts = {name: read_whole(name, options.templates) for name in dict.fromkeys(protocol.prompt_templates)}
    return Asking(
        judge=judge,
        supplied=supplied,
        endpoint=endpoint,
        **{name: getattr(options, name) for name in KEPT_SETTINGS} | {"samples": protocol.answers},
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
    """Describe the answered questions about one instance, which ``judge check`` asks again.

    Args:
        protocol: the judge's original protocol; its brief's criteria include the examples that were shown.
        scores: the scores of the answers by the number of their criterion in the protocol's brief.
        texts: whether to include the texts themselves.
    """
    sample = Sample(
        input=instance.input,
        output=instance.output,
        reference=instance.reference,
        context={n: t for n, t in instance.context.items() if n in protocol.task.columns},
    )
    numbers = list(protocol.brief.criteria) if protocol.asks_together else list(scores)
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
    """Return the salted hash of an input with its output, which identifies the pair."""
    return mark_document(f"{instance.input}\x1e{instance.output}", salt)


def hash_questions(questions: Questions) -> str:
    """Return one SHA-256 over the requests of an item, independent of the number of samples."""
    hashes = sorted({request.hash for request, _ in questions})
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()
