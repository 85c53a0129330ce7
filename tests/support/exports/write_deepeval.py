"""Writes DeepEval's files among the tests' data, with metrics that ask no model.

``DEEPEVAL_RESULTS_FOLDER=FOLDER python write_deepeval.py FOLDER`` in an environment of its own (deepeval 4.3).
"""

import sys
from pathlib import Path

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
from deepeval.metrics import BaseMetric, ExactMatchMetric
from deepeval.test_case import LLMTestCase


class Brevity(BaseMetric):
    threshold, strict_mode, async_mode, evaluation_model = 0.5, False, False, "a counter of words"

    def measure(self, test_case, *args, **kwargs):
        words = len(test_case.actual_output.split())
        self.score = round(min(1.0, 5 / words), 2)
        self.reason = f"{words} words"
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case, *args, **kwargs):
        return self.measure(test_case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Brevity"


def main(folder: Path) -> None:
    cases = [
        LLMTestCase(name="beans", input="How deep do I sow beans?", actual_output="5 cm", expected_output="5 cm",
                    retrieval_context=["Beans: 5 cm."]),
        LLMTestCase(input="When do I prune roses?", actual_output="Not before the frost is over, 🌹 so wait for March",
                    expected_output="in March"),
    ]  # fmt: skip
    result = evaluate(
        cases,
        metrics=[ExactMatchMetric(), Brevity()],
        async_config=AsyncConfig(run_async=False),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
    )
    (folder / "deepeval_results.json").write_text(result.model_dump_json(indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
