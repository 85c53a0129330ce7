"""Batch files: written, split, run line by line as a batch runner would, read back in any order."""

from __future__ import annotations

import json
import random
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coeval.domain import Call, Message, Request
from coeval.llm.client.completions import answer_of
from coeval.llm.running import batch_files
from coeval.llm.running.batch_files import BadLine, BatchWriter, custom_id, read_batch, write_batch
from coeval.llm.running.ledger import Prices
from tests.support.models.memory_ledger import MemoryLedger
from tests.support.models.openai_stub import Stub, start_stub

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}}


def question(number: int) -> Request:
    return Request("m", (Message("user", f"Question {number} – “ü”"),), schema=SCHEMA, temperature=0.0)


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def run_batch(stub: Stub, path: Path) -> list[dict[str, Any]]:
    """What a batch runner does: post each line's body to the stub, and write what came beside its id."""
    results = []
    for number, line in enumerate(read_lines(path)):
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        address = stub.url.removesuffix("/v1") + line["url"]
        sent = urllib.request.Request(address, json.dumps(line["body"]).encode(), method="POST")
        with urllib.request.urlopen(sent, timeout=10) as response:
            body = json.loads(response.read())
        answer = {"status_code": 200, "request_id": f"r{number}", "body": body}
        results.append(
            {"id": f"b{number}", "custom_id": line["custom_id"], "response": answer, "error": None}
        )
    return results


def write_lines(path: Path, lines: Iterable[Any]) -> Path:
    path.write_text(
        "".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines), encoding="utf-8"
    )
    return path


def test_there_and_back(tmp_path: Path) -> None:
    pairs = [(question(n), sample) for n in range(5) for sample in range(2)]
    written = write_batch(pairs, tmp_path / "out.jsonl")
    assert written.paths == [tmp_path / "out.jsonl"] and written.written == 10
    with start_stub(
        lambda body: json.dumps({"score": int(body["messages"][0]["content"].split()[1])})
    ) as stub:
        lines = run_batch(stub, written.paths[0])
    random.Random(1).shuffle(lines)
    results = write_lines(tmp_path / "back.jsonl", lines)
    ledger = MemoryLedger()
    ledger.record_calls([call for call in read_batch(results) if isinstance(call, Call)])
    for request, sample in pairs:
        call = ledger.get_answer(request.hash, sample)
        assert call is not None and (call.model, call.endpoint) == ("m", "batch")
        number = request.messages[0].content.split()[1]
        assert json.loads(answer_of(call).text) == {"score": int(number)}
        assert call.completion_tokens > 0
    # Nothing is left to be asked.
    assert write_batch(pairs, tmp_path / "again.jsonl", ledger=ledger).written == 0
    assert not (tmp_path / "again.jsonl").exists()


def test_the_lines_are_those_of_the_format(tmp_path: Path) -> None:
    write_batch([(question(1), 3)], tmp_path / "out.jsonl")
    (line,) = read_lines(tmp_path / "out.jsonl")
    assert set(line) == {"custom_id", "method", "url", "body"}
    assert line["custom_id"] == f"{question(1).hash}-3"
    assert line["body"]["model"] == "m" and line["body"]["temperature"] == 0.0
    assert line["body"]["response_format"]["json_schema"]["schema"] == SCHEMA
    assert line["body"]["messages"] == [{"role": "user", "content": "Question 1 – “ü”"}]


def test_files_are_split_at_the_number_of_requests(tmp_path: Path) -> None:
    with BatchWriter(tmp_path / "out.jsonl", max_requests=4) as writer:
        for n in range(10):
            writer.add(question(n), 0)
    assert [path.name for path in writer.paths] == ["out.jsonl", "out-2.jsonl", "out-3.jsonl"]
    assert [len(read_lines(path)) for path in writer.paths] == [4, 4, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out-2.jsonl", "out-3.jsonl", "out.jsonl"]


def test_files_are_split_at_the_number_of_bytes(tmp_path: Path) -> None:
    with BatchWriter(tmp_path / "out.jsonl", max_bytes=1500) as writer:
        for n in range(10):
            writer.add(question(n), 0)
    sizes = [path.stat().st_size for path in writer.paths]
    assert len(sizes) > 1 and max(sizes) <= 1500
    assert sum(len(read_lines(path)) for path in writer.paths) == 10


def test_nothing_appears_when_writing_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), BatchWriter(tmp_path / "out.jsonl") as writer:
        writer.add(question(1), 0)
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_errors_are_kept_line_by_line(tmp_path: Path) -> None:
    def line(number: int, **values: Any) -> dict[str, Any]:
        return {"custom_id": custom_id(question(number), 0), "response": None, "error": None} | values

    good = {
        "choices": [{"message": {"content": "4"}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 1},
    }
    path = write_lines(
        tmp_path / "back.jsonl",
        [
            "\ufeff" + json.dumps(line(1, response={"status_code": 200, "body": good | {"model": "m-2025"}})),
            '{"custom_id": "cut off',
            "",
            line(2, error={"code": "batch_expired", "message": "could not be executed in time"}),
            line(3, response={"status_code": 429, "body": {"error": {"message": "slow down"}}}),
            line(4, response={"status_code": 200, "body": "nonsense"}),
            {"custom_id": "somebody-elses-7", "response": {}},
            {"custom_id": custom_id(question(5), 0), "method": "POST", "url": "/v1", "body": {}},
            "[1, 2]",
            line(6, response={"status_code": 200, "body": good}),
        ],
    )
    found = list(read_batch(path, prices=Prices(prompt=1.0, completion=5.0)))
    bad = [one for one in found if isinstance(one, BadLine)]
    calls = [one for one in found if isinstance(one, Call)]
    assert [one.line for one in bad] == [2, 7, 8, 9]
    assert "cut off" in bad[0].reason and "somebody-elses-7" in bad[1].reason
    assert "question and not a result" in bad[2].reason and "no custom_id" in bad[3].reason
    assert [call.request_hash for call in calls] == [question(n).hash for n in (1, 2, 3, 4, 6)]
    assert [bool(call.error) for call in calls] == [False, True, True, True, False]
    assert "could not be executed in time" in calls[1].error and "slow down" in calls[2].error
    # 10 tokens at 1 a million and 1 at 5: 15 / 1,000,000. The model is the one that answered.
    assert calls[0].cost == pytest.approx(1.5e-5) and calls[0].model == "m-2025"


def test_a_line_without_end_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_files, "MAX_LINE", 1000)
    end = json.dumps({"custom_id": custom_id(question(1), 0), "response": None, "error": {"message": "x"}})
    path = write_lines(tmp_path / "back.jsonl", ["y" * 5000, end])
    found = list(read_batch(path))
    assert isinstance(found[0], BadLine) and found[0].line == 1
    assert isinstance(found[1], Call) and len(found) == 2


@given(st.lists(st.binary(max_size=60), max_size=6))
def test_no_bytes_break_the_reader(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("batch") / "back.jsonl"
    name = custom_id(question(1), 0).encode()
    path.write_bytes(b"\n".join([*lines, b'{"custom_id": "' + name + b'", "response": 3}', *lines]))
    found = list(read_batch(path))
    assert sum(isinstance(one, Call) for one in found) == 1
