"""Writes Phoenix's spans and annotations among the tests' data with its own client, as a notebook of Phoenix's would.

``python write_phoenix.py FOLDER`` in an environment of its own (arize-phoenix-client 3.5, pandas). What a server
of Phoenix would answer stands here, and has no field but those of the client's own types when the client reads it.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from phoenix.client import Client
from phoenix.client.__generated__ import v1

AT = {"start_time": "2026-03-01T11:00:00Z", "end_time": "2026-03-01T11:00:01Z", "status_code": "OK"}
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "When do I water?"}]


def span(name: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    context = {"trace_id": "t", "span_id": name}
    return {
        "name": "ChatCompletion",
        "context": context,
        "span_kind": "LLM",
        **AT,
        "attributes": dict(attributes),
    }


SPANS = [
    span(
        "a1b2",
        {
            "llm.model_name": "gardener-1",
            "input.value": json.dumps({"messages": MESSAGES}),
            "output.value": "In the morning 🌞",
        },
    ),
    span(
        "c3d4",
        {
            "llm": {"model_name": "gardener-2"},
            "input": {"value": "When do I water?"},
            "output": {"value": "Whenever."},
        },
    ),
]


def annotation(number: int, about: str, name: str, kind: str, **result: Any) -> dict[str, Any]:
    person = kind == "HUMAN"
    return {
        "name": name,
        "annotator_kind": kind,
        "span_id": about,
        "result": result,
        "metadata": {},
        "identifier": "" if person else "judge-1",
        "id": f"U{number}",
        "created_at": "2026-03-01T12:00:00+00:00",
        "updated_at": f"2026-03-01T12:0{number if person else 0}:00+00:00",
        "source": "APP" if person else "API",
        "user_id": "VXNlcjox" if person else None,
    }


ANNOTATIONS = [
    annotation(1, "a1b2", "helpful", "HUMAN", label="good", score=1.0, explanation="Says when,\nand why."),
    annotation(2, "c3d4", "helpful", "HUMAN", label="bad", score=0.0),
    annotation(3, "a1b2", "helpful", "LLM", label="good", score=1.0, explanation="It answers."),
    annotation(4, "c3d4", "helpful", "LLM", explanation="no answer could be read"),
    annotation(5, "a1b2", "colour", "HUMAN", label="green"),
]


def answer(request: httpx.Request) -> httpx.Response:
    data = ANNOTATIONS if request.url.path.endswith("span_annotations") else SPANS
    return httpx.Response(200, json={"data": data, "next_cursor": None})


def main(folder: Path) -> None:
    for kind, records in ((v1.Span, SPANS), (v1.SpanAnnotation, ANNOTATIONS)):
        assert all(set(record) <= kind.__required_keys__ | kind.__optional_keys__ for record in records)
    http = httpx.Client(transport=httpx.MockTransport(answer), base_url="http://phoenix.example")
    spans = Client(http_client=http).spans
    lines = (
        json.dumps(each, ensure_ascii=False) + "\n" for each in spans.get_spans(project_identifier="garden")
    )
    (folder / "phoenix_spans.jsonl").write_text("".join(lines), encoding="utf-8")
    table = spans.get_span_annotations_dataframe(span_ids=["a1b2", "c3d4"], project_identifier="garden")
    table.to_csv(folder / "phoenix_annotations.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
