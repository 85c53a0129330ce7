"""Writes the Inspect log among the tests' data: two models' answers, three scorers, an edit by a person.

``python -m tests.support.exports.write_inspect FOLDER`` (inspect-ai 0.3).
"""

from __future__ import annotations

import sys
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import ProvenanceData, edit_score, write_eval_log
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import (
    Score,
    ScoreEdit,
    Scorer,
    Target,
    includes,
    mean,
    model_graded_qa,
    scorer,
)
from inspect_ai.solver import TaskState, generate

SAMPLES = [
    Sample(
        input="How deep do I sow beans?\nIn clay.", target="5 cm", id="beans", metadata={"topic": "sowing 🌱"}
    ),
    Sample(
        input=[ChatMessageSystem(content="Be brief."), ChatMessageUser(content="When do I prune roses?")],
        target=["in March", "at the end of winter"],
        id="roses",
    ),
]
ANSWERS = ["About 5 cm, a little less in clay.", "In May, after flowering. " + "Cut above a bud. " * 10]


@scorer(metrics={"tone": [mean()], "length": [mean()]})
def manners() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        words = len(state.output.completion.split())
        return Score(value={"tone": 4, "length": min(5, words // 2)}, explanation=f"{words} words")

    return score


def answer(model: str, text: str) -> ModelOutput:
    output = ModelOutput.from_content(model, text)
    output.usage = ModelUsage(
        input_tokens=1, output_tokens=1
    )  # where it is not given, tokens are counted by download
    return output


def main(folder: Path) -> None:
    grader = get_model("mockllm/grader", custom_outputs=[
        answer("mockllm/grader", f"It says so.\n\nGRADE: {grade}") for grade in "CICI"
    ])  # fmt: skip
    task = Task(
        dataset=SAMPLES,
        solver=generate(),
        scorer=[includes(), model_graded_qa(model=grader), manners()],
        name="garden",
        epochs=2,
    )
    outputs = [answer("mockllm/gardener", text) for text in ANSWERS * 2]
    model = get_model("mockllm/gardener", custom_outputs=outputs)
    (log,) = eval(
        task, model=model, log_dir=str(folder / "logs"), display="none", max_connections=1, max_samples=1
    )
    assert log.status == "success", log.error and log.error.message
    person = ProvenanceData(author="Ada", reason="May is too late")
    edit = ScoreEdit(value="P", explanation="Half of it is right.", provenance=person)
    edit_score(log, "roses", "model_graded_qa", edit, epoch=1)
    log.eval.revision, log.eval.task_file = None, None
    for sample in log.samples or []:
        sample.events, sample.timelines, sample.error_retries = [], None, None
    write_eval_log(log, folder / "inspect.eval")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
