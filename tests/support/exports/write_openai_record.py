"""Writes the record of an ``oaieval`` run among the tests' data with the recorder of openai/evals.

``python write_openai_record.py FOLDER`` in an environment of its own (evals 3.0.1, and of what it depends on
blobfile, lz4, zstandard, openai, pyyaml, backoff, tqdm, tiktoken). Its way to Snowflake, which nothing here takes, is
left out.
"""

import json
import os
import sys
from pathlib import Path
from types import ModuleType

os.environ.setdefault("OPENAI_API_KEY", "not asked")
snowflake = ModuleType("evals.utils.snowflake")
snowflake.SnowflakeConnection = object
sys.modules["evals.utils.snowflake"] = snowflake

from evals.base import RunSpec  # noqa: E402
from evals.record import LocalRecorder  # noqa: E402

SPEC = RunSpec(
    completion_fns=["gardener-1", "grader-1"],
    eval_name="garden.dev.v0",
    base_eval="garden",
    split="dev",
    run_config={"seed": 1},
    created_by="",
)


def main(folder: Path) -> None:
    path = folder / "openai_evals.jsonl"
    recorder = LocalRecorder(str(path), SPEC)
    question = [{"role": "user", "content": "How deep do I sow beans?"}]
    with recorder.as_default_recorder("garden.dev.0"):
        recorder.record_sampling(prompt=question, sampled=["5 cm deep"])
        recorder.record_sampling(prompt="Is it right?", sampled=["It is.\nY"])
        recorder.record_metrics(choice="Y", score=1.0)
    with recorder.as_default_recorder("garden.dev.1"):
        recorder.record_sampling(prompt="When do I prune roses?", sampled=["In May"])
        recorder.record_match(False, expected="in March", picked=None, sampled="In May")
        recorder.record_metrics(choice="N", score=0.0)
    recorder.flush_events()
    recorder.record_final_report({"score": 0.5})
    # the same file whenever it is written
    text = path.read_text(encoding="utf-8").replace(SPEC.run_id, "2603010000AAAA")
    events = [json.loads(line) for line in text.splitlines()]
    for event in (events[0]["spec"], *events):
        if "created_at" in event:
            event["created_at"] = "2026-03-01 12:00:01.000000+00:00"
    lines = (json.dumps(event, ensure_ascii=False) for event in events)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
