"""A judge within Inspect, pytest and promptfoo's Python assertion, against the stub server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coeval.extensions.judge.model.judge_file import write_judge
from coeval.extensions.judge.runtime.adapters import get_assert
from tests.support.models.openai_stub import start_stub
from tests.support.models.stub_answers import default_reply, output_of
from tests.support.studies.judge_files import make_judge

ROOT = Path(__file__).resolve().parents[3]


def by_length(body: dict[str, Any]) -> str:
    """As many points as words, up to 5; by the second criterion, whose scale ends at 2, one."""
    prompt = body["messages"][0]["content"]
    if "unreadable" in output_of(prompt):
        return "I like it."
    points = min(5, len(output_of(prompt).split())) if "Be right." in prompt else 1
    return re.sub(r'"score": -?\d+', f'"score": {points}', default_reply(body))


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The file of a judge whose endpoint the environment names, in the folder at hand."""
    with start_stub(by_length) as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        monkeypatch.chdir(tmp_path)
        write_judge(tmp_path / "judge.json", make_judge())
        yield tmp_path / "judge.json"


def test_promptfoo_is_given_a_grading_result(judge: Path) -> None:
    """Its fields are those of the type ``GradingResult``; promptfoo reads them as JSON from a process of its own."""

    def grade(output: str, **config: Any) -> dict[str, Any]:
        context = {"vars": {"question": "Why?"}, "config": {"input": "question"} | config, "prompt": "Why?"}
        result = get_assert(output, json.loads(json.dumps(context)))
        return dict(json.loads(json.dumps(result, allow_nan=False)))

    told = grade("It is so.", at_least={"Be right.": 3})
    assert told["pass"] is True and told["score"] == 0.5  # (3 - 1) / (5 - 1)
    assert told["componentResults"] == [
        {"pass": True, "score": 0.5, "reason": "“Be right.”: 3.00, at least 3 asked"}
    ]
    both = grade("It is so.", at_least=2.5)
    assert both["pass"] is False and both["namedScores"] == {"Be right.": 0.5, "Be brief.": 0.5}
    assert "“Be brief.”: 1.00, at least 2.5 asked" in both["reason"]
    lost = grade("unreadable")
    assert lost["pass"] is False and lost["componentResults"][0]["score"] == 0.0
    for config, said in (
        ({"judge": "none.json"}, "cannot be read"),
        ({"input": "text"}, "no variable “text”"),
        ({"least": 3}, "no key “least”; the keys are judge"),
        ({"at_least": "much"}, "must be a number, or a mapping"),
    ):
        refused = grade("So.", **config)
        assert refused["pass"] is False and said in refused["reason"]


@pytest.mark.slow
def test_inspect_scores_with_a_judge(judge: Path) -> None:
    """In a process of its own, as Inspect keeps an event loop, a display and logs."""
    pytest.importorskip("inspect_ai", reason="Inspect is an extra")
    script = judge.parent / "task.py"
    script.write_text(
        "import json\n"
        "from inspect_ai import Task, eval\n"
        "from inspect_ai.dataset import Sample\n"
        "from inspect_ai.model import ModelOutput\n"
        "from inspect_ai.solver import solver\n"
        "from coeval.extensions.judge.runtime.adapters import judge_scorer\n\n"
        "@solver\n"
        "def answered():\n"
        "    async def solve(state, generate):\n"
        "        state.output = ModelOutput.from_content('m', state.metadata['answer'])\n"
        "        return state\n"
        "    return solve\n\n"
        "texts = {'d1': 'One two.', 'd2': 'One two three four.'}\n"
        "samples = [Sample(input='Why?', target='x', id=name, metadata={'document': name, 'answer': text})\n"
        "           for name, text in texts.items()]\n"
        "task = Task(dataset=samples, solver=answered(), scorer=judge_scorer('judge.json'))\n"
        "(log,) = eval(task, model='mockllm/model', display='none', log_dir='logs')\n"
        "assert log.status == 'success', log.error.message\n"
        "means = {s.name: s.metrics['mean'].value for s in log.results.scores}\n"
        "values = {sample.id: next(iter(sample.scores.values())).value for sample in log.samples}\n"
        "print(json.dumps([means, values]))\n"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script)]
    told = subprocess.run(command, cwd=judge.parent, env=env, capture_output=True, text=True, timeout=180)
    assert told.returncode == 0, told.stdout + told.stderr
    means, values = json.loads(told.stdout.splitlines()[-1])
    assert means == {"Be right.": 3.0, "Be brief.": 1.0}
    assert values == {"d1": {"Be right.": 2.0, "Be brief.": 1.0}, "d2": {"Be right.": 4.0, "Be brief.": 1.0}}
