"""Writes Langfuse's traces among the tests' data with the models of its own client.

``python write_langfuse_traces.py FOLDER`` in an environment of its own (langfuse 3.15: later clients have no model of a
trace).
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from langfuse.api import TraceWithDetails

SHARED = {
    "name": "garden-bot",
    "public": False,
    "tags": [],
    "environment": "default",
    "latency": 1.5,
    "totalCost": 0.0,
}
CALM = {"role": "assistant", "content": "I am sorry. Sow again in May: “5 cm deep”."}


def build() -> list[TraceWithDetails]:
    return [
        TraceWithDetails(
            id="t-1",
            timestamp=datetime(2026, 3, 1, 12, tzinfo=UTC),
            input=[{"role": "user", "content": "My beans died."}],
            output=CALM,
            sessionId=None,
            metadata={"plot": "007"},
            htmlPath="/project/p/traces/t-1",
            observations=["o-1"],
            scores=["s1", "s3", "s4", "s6"],
            **SHARED,
        ),
        TraceWithDetails(
            id="t-2",
            timestamp=datetime(2026, 3, 1, 12, 5, tzinfo=UTC),
            input="My roses died too.",
            output="NA",
            sessionId=None,
            metadata=None,
            htmlPath="/project/p/traces/t-2",
            observations=[],
            scores=["s2"],
            **SHARED,
        ),
    ]


def main(folder: Path) -> None:
    traces = [json.loads(trace.json()) for trace in build()]
    text = json.dumps(traces, ensure_ascii=False, indent=1) + "\n"
    (folder / "langfuse_traces.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
