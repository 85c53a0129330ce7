"""Writes the output items of a hosted OpenAI eval among the tests' data, with the openai package's own models.

``python -m tests.support.exports.write_openai_items FOLDER`` (openai 3).
"""

from __future__ import annotations

import sys
from pathlib import Path

from openai.types.evals.runs import output_item_list_response as items


def build_item(number: int, question: str, answer: str, score: float) -> items.OutputItemListResponse:
    return items.OutputItemListResponse.model_validate(
        {
            "id": f"item_{number}",
            "object": "eval.run.output_item",
            "created_at": 1_772_366_400,
            "datasource_item": {"question": question, "bed": f"00{number}"},
            "datasource_item_id": number,
            "eval_id": "eval_1",
            "run_id": "run_1",
            "status": "pass" if score > 0.5 else "fail",
            "results": [{"name": "kind", "type": "score_model", "score": score, "passed": score > 0.5}],
            "sample": {
                "error": {"code": "", "message": ""},
                "finish_reason": "stop",
                "input": [{"role": "user", "content": question}],
                "output": [{"role": "assistant", "content": answer}],
                "max_completion_tokens": 10,
                "model": "gardener-1",
                "seed": 1,
                "temperature": 0,
                "top_p": 1,
                "usage": {"cached_tokens": 0, "completion_tokens": 1, "prompt_tokens": 1, "total_tokens": 2},
            },
        }
    )


def main(folder: Path) -> None:
    written = [
        build_item(1, "Do beans like clay?", "Not much 🫘", 0.75),
        build_item(2, "Do roses?", "0", 0.25),
    ]
    lines = (item.model_dump_json(exclude_none=True) for item in written)
    (folder / "openai_items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
