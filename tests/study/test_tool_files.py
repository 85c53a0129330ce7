"""Files of other tools go into a study by the one door that all files take, and the same file twice changes nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from coeval.domain import Person
from coeval.study.access import Context
from coeval.study.importing.importing import import_file

DATA = Path(__file__).resolve().parents[1] / "data" / "exports"


@pytest.mark.parametrize(
    ("names", "format", "instances", "drafts", "submissions"),
    [
        (["inspect.eval"], "inspect", 4, 16, 1),
        (["promptfoo.json"], "promptfoo", 2, 3, 1),
        (["deepeval_run.json"], "deepeval", 2, 4, 0),
        (["langfuse_scores.json", "langfuse_traces.json"], "langfuse", 2, 3, 6),
        (["phoenix_annotations.csv", "phoenix_spans.jsonl"], "phoenix", 2, 2, 3),
        (["openai_evals.jsonl"], "openai-evals", 2, 3, 0),
    ],
)
def test_a_file_is_imported_once(
    context: Context, owner: Person, tmp_path: Path, names: list[str], format: str,
    instances: int, drafts: int, submissions: int,
) -> None:  # fmt: skip
    for name in names:
        shutil.copy(DATA / name, tmp_path)
    path = tmp_path if len(names) > 1 else tmp_path / names[0]
    report = import_file(context, owner, path, "tool")
    assert (report.instances, report.drafts, report.submissions) == (instances, drafts, submissions)
    again = import_file(context, owner, path, "tool", format=format)
    assert not again.changed and again.unchanged == instances + drafts + submissions


def test_scores_alone_are_for_a_task_that_has_the_answers(context: Context, owner: Person) -> None:
    import_file(context, owner, DATA / "langfuse_traces.json", "garden")
    report = import_file(context, owner, DATA / "langfuse_scores.json", "garden")
    assert (report.instances, report.drafts, report.submissions) == (0, 3, 6)
