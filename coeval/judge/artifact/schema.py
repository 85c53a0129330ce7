"""What stands in ``judge.json``, field by field. A file of another version of this schema is refused.

There is no field for a key, for an address with a password in it, or for a person: people are only counted. Documents
stand there as salted hashes, so that labels and examples can be told to belong to a text at hand, and to no other.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, JsonValue, model_validator

from coeval.domain import ColumnRole, Criterion, Guide, Scale, Task
from coeval.judge.fitted import Fitted
from coeval.judge.parts import Name, Part, Text

KIND: Literal["coeval-judge"] = "coeval-judge"
VERSION: Literal[1] = 1

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
TemplateName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,60}$")]
Template = Annotated[str, Field(min_length=1, max_length=100_000)]
Word = Annotated[str, Field(max_length=200)]
Score = Annotated[int, Field(ge=-1000, le=1000)]


class JudgeTask(Part):
    """What the outputs are for, as every question to the model says it."""

    name: Word
    description: Text = ""
    input_field: Word = "Input"
    output_field: Word = "Output"
    guidelines: Text = ""
    columns: Annotated[dict[Word, ColumnRole], Field(max_length=200)] = {}
    """The role of each further column of the input; one that is not named here is shown to nobody."""

    def build(self) -> Task:
        """The task that the protocols are given."""
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
    """A criterion with its scale and its guide; ``anchors`` says what a score means."""

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
        """The criterion that the protocols are given."""
        guide = Guide(self.definition, tuple(sorted(self.anchors.items())), self.examples)
        scale = Scale(self.low, self.high)
        return Criterion(self.text, self.name, scale=scale, question=self.question, guide=guide)


class Asking(Part):
    """One model and how it is asked: a judge alone, or a member of a jury."""

    judge: Name
    """What the fitted parts call it."""
    supplied: bool = False
    """Its scores were imported, and how it asks is what the owner says: nothing has seen it ask in this way."""
    model: Annotated[str, Field(min_length=1, max_length=500)]
    endpoint: Annotated[str, Field(max_length=2000, pattern=r"^[^@?#]*$")] = ""
    """The address that answered in the study, without user names, passwords and parameters; only told, never used."""
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
    """Every prompt text that a question is made from, whole, by its name."""
    prompt_hash: Hash
    """SHA-256 over these texts, as a run in a study records it."""


class Label(Part):
    """What people and the judge said of one output by one criterion: with these a gate corrects its mean.

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
    """The texts of one question, kept only where the owner chose so."""

    input: Text
    output: Text
    reference: Text = ""
    context: Annotated[dict[Word, Text], Field(max_length=200)] = {}


class Question(Part):
    """One of the questions of the certificate, with the scores of the answers that were given then.

    ``output`` is the salted hash of the text that it is about, which the texts have to match.
    """

    judge: Name
    criterion: Name
    document: Hash
    output: Hash
    request: Hash
    """The hash of the whole question (``Request.hash``), so that the same is asked again and nothing else."""
    scores: Annotated[tuple[float, ...], Field(min_length=1, max_length=100)]
    sample: Sample | None = None


class Hashes(Part):
    """SHA-256 of what the judge was made from; empty where it is not known."""

    data: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    """The people's scores and the judges' that it learned from."""
    criteria: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    code: Word = ""
    """The version of CoEval that fitted it."""


class JudgeFile(Part):
    """A judge: what it judges by, how it asks, what it learned, and how far it was found to agree with people."""

    model_config = ConfigDict(title="A judge of CoEval (judge.json)")

    kind: Literal["coeval-judge"] = KIND
    version: Literal[1] = VERSION
    name: Annotated[str, Field(min_length=1, max_length=200)]
    made_at: Annotated[str, Field(max_length=40)] = ""
    """UTC, as 2026-01-31T12:00:00Z."""
    salt: Annotated[str, Field(min_length=16, max_length=200)]
    """Of the hashes of documents and outputs in this file."""
    task: JudgeTask
    criteria: Annotated[tuple[JudgeCriterion, ...], Field(min_length=1, max_length=1000)]
    judges: Annotated[tuple[Asking, ...], Field(min_length=1, max_length=100)]
    fitted: Fitted = Fitted()
    certificate: Annotated[dict[str, JsonValue], Field(max_length=1000)] | None = None
    labels: Annotated[tuple[Label, ...], Field(max_length=200_000)] = ()
    questions: Annotated[tuple[Question, ...], Field(max_length=10_000)] = ()
    hashes: Hashes = Hashes()

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
    """The JSON Schema of ``judge.json``, as the help publishes it."""
    schema: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(schema | JudgeFile.model_json_schema(), ensure_ascii=False, indent=1) + "\n"
