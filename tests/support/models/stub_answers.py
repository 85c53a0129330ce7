"""What the stub says when a test does not tell it: sensible answers to CoEval's own prompts.

The score of a text is always the same for the same prompt, and its evidence is quoted from the output
that the prompt holds, so that a whole-app test sees drafts as a model would write them.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from typing import Any

CRITERIA = (
    "The text covers every point that the input asks for.",
    "The text states nothing that the input does not support.",
    "The sentences follow one another in an order that a reader can follow.",
    "The wording is plain enough for the readers that the task names.",
    "The text keeps to the length that the task asks for.",
    "The tone suits the situation that the input describes.",
    "Names, numbers and dates agree with the input.",
    "The text leaves out what does not help its reader.",
    "Spelling and grammar are correct throughout.",
    "The text ends in a way that completes what it began.",
)

VERDICTS = ("hardly meets", "meets only a part of", "meets about half of", "largely meets", "fully meets")

_OUTPUT = re.compile(r"<sample_output\b[^>]*>\n(.*?)\n</sample_output>", re.S)
_SCALE = re.compile(r"from (-?\d+)(?: \(lowest\))? to (-?\d+)")
_DECIDED = re.compile(r"has the score (-?\d+)\.")
"""The score that an explanation is asked for."""
_counter = itertools.count()


def default_reply(body: dict[str, Any]) -> str:
    """An answer in the form that the prompt, or the schema that comes with it, asks for."""
    prompt = "\n".join(words_of(message.get("content", "")) for message in body.get("messages", ()))
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    last = words_of(body["messages"][-1].get("content", "")) if body.get("messages") else ""
    if "write this alone" in last:
        return _reply_again(last, schema, prompt)
    if '{"criteria"' in prompt:
        return reply_criteria(prompt, body.get("temperature"))
    if '{"evaluations"' in prompt:
        return reply_evaluations(prompt)
    if '{"conclusion"' in prompt:
        return reply_evaluation(prompt)
    form = _form_of(prompt)
    if form:
        return _fill_form(form, prompt)
    if "numbered list" in prompt:
        return "1. Read the sample as a whole.\n2. Compare it with the criterion.\n3. Choose the score that fits."
    if '{"steps"' in prompt:
        return json.dumps({"steps": ["Read the sample as a whole.", "Compare it with the criterion."]})
    if '"preference"' in prompt:
        return json.dumps({"analysis": "One is longer.", "preference": preference_of(prompt)})
    if schema:
        return json.dumps(_fill_schema(schema, prompt))
    return f"{_conclusion(prompt)} I rate it {score_of(prompt)}."


def reply_decision(body: dict[str, Any]) -> str:
    """The body of a decision in the shape of ``/v1/systemone``: always the same for the same text and question."""
    answers = {}
    for name, question in body["questions"].items():
        seed = hashlib.sha256(f"{body['state']}{question['instructions']}".encode()).digest()
        if question["type"] == "noul":
            answers[name] = {"type": "noul", "noul": seed[0] / 255}
            continue
        criteria = question["criteria"]
        labels = list(criteria) if question["type"] == "choice" else [str(at) for at in range(len(criteria))]
        total = sum(seed[: len(labels)])
        chances = {label: seed[at] / total for at, label in enumerate(labels)}
        answers[name] = {"type": question["type"], "probabilities": chances}
    tokens = len(json.dumps(body)) // 4
    return json.dumps({"answers": answers, "usage": {"input_tokens": tokens, "output_tokens": 0}})


def _reply_again(last: str, schema: dict[str, Any] | None, prompt: str) -> str:
    """The scores alone, as a JSON object by the schema or as the lines that the second question shows."""
    if schema:
        names = schema["properties"]
        return json.dumps(
            {name: score_of(prompt, name if name != "score" else "") for name in names}
            if all("enum" in inner for inner in names.values()) and "preference" not in names
            else _fill_schema(schema, prompt)
        )
    lines = last[last.rfind("write this alone") :].split("\n")[1:]
    return _fill_form([line for line in lines if "<" in line], prompt)


def words_of(content: Any) -> str:
    """The words of a message, without the images among its parts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content)


def reply_criteria(prompt: str, temperature: float | None) -> str:
    """As many criteria as were asked for: the first ones, and then, but at temperature 0, others each time."""
    wanted = re.search(r"Propose (\d+) criteria", prompt)
    start = 0 if temperature == 0 else 3 * next(_counter) % len(CRITERIA)
    chosen = (CRITERIA[start:] + CRITERIA[:start])[: int(wanted[1]) if wanted else 5]
    return json.dumps({"criteria": chosen})


def reply_evaluation(prompt: str) -> str:
    """A conclusion, a score on the scale, and quotes copied from the output."""
    return json.dumps(_evaluation(prompt))


def reply_evaluations(prompt: str) -> str:
    """The same for each criterion of a numbered list."""
    listed = prompt[prompt.rfind("## Criteria") :]
    numbers = re.findall(r"^\[(\d+)\] ", listed, re.M)
    each = [{"criterion": int(number)} | _evaluation(prompt, number) for number in numbers]
    return json.dumps({"evaluations": each})


def _evaluation(prompt: str, label: str = "") -> dict[str, Any]:
    evidence = [{"quote": quote, "remark": "said in so many words"} for quote in quotes_of(prompt)]
    return {"conclusion": _conclusion(prompt), "score": score_of(prompt, label), "evidence": evidence}


def output_of(prompt: str) -> str:
    """The text to be judged, as it stands in the prompt."""
    found = _OUTPUT.search(prompt)
    return found[1] if found else prompt


def quotes_of(prompt: str, most: int = 2) -> list[str]:
    """Up to ``most`` passages of at most ten words, letter by letter from the output."""
    sentences = re.findall(r"\S[^.!?\n]*", output_of(prompt))
    passages = [re.match(r"(?:\S+\s+){0,9}\S+", sentence) for sentence in sentences]
    return [passage[0] for passage in passages if passage and len(passage[0]) > 3][:most]


def scale_of(prompt: str, label: str = "") -> tuple[int, int]:
    """The scale that the prompt names: the first, or that of the criterion listed under ``label``."""
    listed = prompt.find(f"[{label}]") if label else 0
    if decided := _DECIDED.search(prompt):
        return int(decided[1]), int(decided[1])
    scale = _SCALE.search(prompt, max(listed, 0))
    return (int(scale[1]), int(scale[2])) if scale else (1, 5)


def score_of(prompt: str, label: str = "") -> int:
    """A whole number on the scale that the prompt names, the same for the same prompt."""
    low, high = scale_of(prompt, label)
    return low + int(hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest(), 16) % (high - low + 1)


def _conclusion(prompt: str) -> str:
    low, high = scale_of(prompt)
    share = (score_of(prompt) - low) / max(high - low, 1)
    words = " ".join(output_of(prompt).split()[:5])
    return f"The text, which begins with “{words}”, {VERDICTS[round(share * 4)]} the criterion."


def _form_of(prompt: str) -> list[str]:
    """The lines of the form to fill in that ends a prompt: those that hold a ``<blank>``."""
    lines = prompt[prompt.rfind("## How to answer") :].split("\n") if "## How to answer" in prompt else []
    return [line for line in lines if re.search(r"<[a-z][^<>]*>", line)]


def preference_of(prompt: str) -> str:
    """The longer of the two outputs that a prompt holds; a tie where they are as long."""
    lengths = [len(output) for output in _OUTPUT.findall(prompt)]
    return "tie" if len(set(lengths)) < 2 else "AB"[lengths.index(max(lengths))]


def _fill_form(form: list[str], prompt: str) -> str:
    """The form with a score in every blank for a number and a sentence in every other."""
    return "\n".join(_fill_line(line, prompt) for line in form)


def _fill_line(line: str, prompt: str) -> str:
    if line.startswith("Preference:"):
        return f"Preference: {preference_of(prompt)}"
    label = re.match(r"\[(\w+)\]", line)
    score = str(score_of(prompt, label[1] if label else ""))
    line = re.sub(r"<number>|<one whole number[^<>]*>", score, line)
    return re.sub(r"<[a-z][^<>]*>", lambda blank: _conclusion(prompt), line)


def _fill_schema(schema: dict[str, Any], prompt: str) -> Any:
    """Something that fits a JSON schema."""
    kind = schema.get("type")
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "object":
        return {name: _fill_schema(inner, prompt) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [_fill_schema(schema.get("items", {}), prompt)]
    if kind in ("integer", "number"):
        return schema.get("minimum", score_of(prompt))
    return False if kind == "boolean" else _conclusion(prompt)
