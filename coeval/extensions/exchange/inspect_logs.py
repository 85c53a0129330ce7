"""Inspect's eval logs, ``.eval`` and ``.json``: read them with Inspect, and write people's scores for its scorer."""

from __future__ import annotations

import math
import zipfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coeval.clock import write_time
from coeval.datasets.json_nodes import Node, peek
from coeval.datasets.text import check_size, reading
from coeval.domain import Instance
from coeval.domain.tasks import parse_messages, render_chat
from coeval.errors import InputError
from coeval.extensions.exchange.records import Fields
from coeval.extensions.exchange.tool_files import (
    Gathering,
    Judgment,
    build_instance,
    name_answer,
    read_number,
    tool_format,
)

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.scorer import Score

TOOL = "Inspect"
MAX_UNZIPPED = 1_000_000_000
"""The largest unzipped size of a log in bytes, because a small file can unzip to a very large one."""

_READ = (
    "eval eval.model eval.scorers model_roles grader grader.model samples id epoch scores history messages "
    "role content text tool_calls function explanation reason provenance author timestamp provenance.reason"
)
_KEPT = "samples.input samples.output attachments target choices samples.metadata value arguments options"
"""What is read of a log, and what is read with everything inside it."""

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""The values of the letters in Inspect's scores: correct, incorrect, partly correct, no answer (``value_to_float``)."""


def load_log(path: Path) -> EvalLog:
    """Load one log and resolve the references of its messages.

    Raises InputError for a file that is not a log or is too large when unzipped, and if Inspect is not installed.
    """
    check_size(path)
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as exc:
        raise InputError(
            f"{path.name}: only Inspect can read its logs; run pip install inspect-ai, then import the "
            "file again."
        ) from exc
    try:
        if path.suffix.lower() == ".eval":
            _check_archive(path)
        return read_eval_log(
            path, resolve_attachments=True, exclude_fields={"events", "store", "timelines", "events_data"}
        )
    except InputError:
        raise
    except (
        Exception,
        RecursionError,
    ) as exc:  # a broken log fails in zipfile, in zlib, in pydantic or in Inspect
        raise InputError(
            f"{path.name}: cannot be read as an Inspect log ({type(exc).__name__}); open it with inspect "
            "view. If that also fails, export it again."
        ) from exc


def _check_archive(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MAX_UNZIPPED:
        raise InputError(
            f"{path.name}: contains {size:,} bytes when unzipped, and the limit is {MAX_UNZIPPED:,}; "
            "write the log again with fewer samples."
        )


def _is_log(path: Path) -> bool:
    if path.suffix.lower() == ".eval":
        return path.is_file()
    spec = peek(path).get("eval")
    return isinstance(spec.value, dict) and {"task", "model", "created"} <= set(spec.value)


def name_sample(log: EvalLog, sample: EvalSample) -> str:
    """Return an id for a sample's answer, made from its id, epoch, model and answer."""
    return name_answer(str(sample.id), log.eval.model, _texts(sample)[1], sample.epoch)


def _texts(sample: EvalSample) -> tuple[str, str]:
    """Return the model's input, and its answer or the conversation from the model's first turn on."""
    messages = sample.messages
    if not messages:
        said = sample.input if isinstance(sample.input, str) else _render(sample.input)
        return said, sample.output.completion
    first = next(
        (place for place, message in enumerate(messages) if message.role == "assistant"), len(messages)
    )
    prompt, done = messages[:first], messages[first:]
    plain_question = len(prompt) == 1 and prompt[0].role == "user"
    question = prompt[0].text if plain_question else _render(prompt)
    if len(done) == 1 and not getattr(done[0], "tool_calls", None):
        return question, done[0].text
    return question, _render(done)


def _render(messages: Any) -> str:
    """Return messages as a conversation, with their texts and tool calls."""
    plain = [
        {
            "role": message.role,
            "content": message.text,
            "tool_calls": [
                {"function": call.function, "arguments": call.arguments}
                for call in getattr(message, "tool_calls", None) or ()
            ],
        }
        for message in messages
    ]
    return render_chat(parse_messages(plain))


def _read(path: Path, gathering: Gathering) -> None:
    with reading(path.name):
        log = load_log(path)
    names = " ".join({name for sample in log.samples or () for name in sample.scores or {}})
    dumped = Node(log.model_dump(mode="json", exclude_none=True), path.name)
    Fields(f"{_READ} {names}", kept=_KEPT).count_others(gathering, [dumped])
    told = "Inputs, outputs and attachments that the messages repeat, left out"
    gathering.left[told] += sum(bool(sample.messages) for sample in log.samples or ())
    for sample in log.samples or ():
        place = f"{path.name}, sample {sample.id}, epoch {sample.epoch}"
        question, output = _texts(sample)
        key = name_sample(log, sample)
        target = sample.target if isinstance(sample.target, str) else "\n".join(sample.target)
        context = {name: Node(value, place).text() for name, value in sample.metadata.items()}
        if sample.choices:
            context["choices"] = "\n".join(sample.choices)
        instance = build_instance(
            key, question, output, system=log.eval.model, reference=target, context=context
        )
        if gathering.add_instance(instance, place):
            for name, score in (sample.scores or {}).items():
                _read_score(key, name, score, _name_judge(log, name), place, gathering)


def _name_judge(log: EvalLog, scorer: str) -> str:
    """Return the model that a scorer used, if the log names it, or else Inspect."""
    options = next((each.options for each in log.eval.scorers or () if each.name == scorer), None) or {}
    role = (log.eval.model_roles or {}).get("grader")
    model = options.get("model") or getattr(role, "model", None)
    model = model.get("model") if isinstance(model, dict) else model
    return model if isinstance(model, str) and model else TOOL


def _read_score(instance: str, name: str, score: Score, judge: str, place: str, gathering: Gathering) -> None:
    """Read a scorer's values as the judge's, and each person's edits as that person's."""
    first = score.history[0] if score.history else score
    explanation = first.explanation if first.explanation != "UNCHANGED" else score.explanation
    for criterion, value in _split(name, first.value if first.value != "UNCHANGED" else score.value):
        number, labels = _read_value(value)
        gathering.add(
            Judgment(
                instance=instance,
                criterion=criterion,
                by=judge,
                score=number,
                labels=labels,
                comment=explanation or "",
                reason=str(score.reason or "the scorer gave no value"),
            ),
            place,
        )
    for edit in score.history[1:]:
        who = edit.provenance
        if who is None or edit.value == "UNCHANGED":
            continue
        said = edit.explanation if edit.explanation not in (None, "UNCHANGED") else who.reason
        for criterion, value in _split(name, edit.value):
            number, labels = _read_value(value)
            gathering.add(
                Judgment(
                    instance=instance,
                    criterion=criterion,
                    by=who.author,
                    person=True,
                    score=number,
                    labels=labels,
                    comment=said or "",
                    shown=judge,
                    saved_at=write_time(who.timestamp),
                ),
                place,
            )


def _split(name: str, value: object) -> list[tuple[str, object]]:
    """Return the single values of a score; a scorer may give several by name or position."""
    if isinstance(value, dict):
        return [(f"{name}: {part}", inner) for part, inner in value.items()]
    if isinstance(value, list):
        return [(f"{name}: {place}", inner) for place, inner in enumerate(value, 1)]
    return [(name, value)]


def _read_value(value: object) -> tuple[float | None, tuple[str, ...] | None]:
    """Return a value as a score, or a word as a label."""
    if isinstance(value, int | float):
        number = float(value) if abs(value) < 1e300 else math.nan
        return (number, None) if math.isfinite(number) else (None, None)
    if not isinstance(value, str) or not value.strip():
        return None, None
    number_of = _LETTERS.get(value, read_number(value))
    return (number_of, None) if number_of is not None else (None, (value,))


FORMAT = tool_format("inspect", "Inspect eval logs (.eval, .json)", TOOL, _is_log, _read)


def render_precomputed(
    instances: Sequence[Instance], units: Sequence[tuple[str, str, float]]
) -> list[dict[str, Any]]:
    """Return the records of ``precomputed_scores``: for each scored sample, the mean of each criterion.

    ``units`` has an instance, a criterion and a score for each person.
    """
    by_sample: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, criterion, score in units:
        by_sample[name][criterion].append(score)
    records = []
    for instance in instances:
        scores = by_sample.get(instance.external_id)
        if scores:
            sample, epoch = read_sample_name(instance)
            people = max(map(len, scores.values()))
            told = f"mean of the scores of {people} {'person' if people == 1 else 'people'}"
            value = {criterion: sum(each) / len(each) for criterion, each in scores.items()}
            records.append({"id": sample, **({"epoch": epoch} if epoch else {}), "value": value, "explanation": told,
                            "metadata": {"coeval": dict(scores)}})  # fmt: skip
    return records


def read_sample_name(instance: Instance) -> tuple[str, int | None]:
    """Return the sample's id and epoch from an instance's name, or the name itself if it is not from a log.

    >>> read_sample_name(Instance("beans · 2 · gpt · 5f9a2b7956", "When?", "Yes.", system="gpt"))
    ('beans', 2)
    """
    name, epoch = instance.external_id, ""
    ending = name_answer("", instance.system, instance.output).removeprefix("1")
    if name.endswith(ending):
        name, _, epoch = name.removesuffix(ending).rpartition(" · ")
    return (name, int(epoch)) if name and epoch.isdecimal() else (instance.external_id, None)
