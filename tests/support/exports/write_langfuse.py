"""Writes Langfuse's scores among the tests' data with the models of its own client.

``python write_langfuse.py FOLDER`` in an environment of its own (langfuse 5.0). Its traces are written by
``write_langfuse_traces.py``, with an earlier client, as this one has no model of them any more.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from langfuse.api.commons.types import Score_Boolean, Score_Categorical, Score_Numeric
from langfuse.api.core.pydantic_utilities import UniversalBaseModel

AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
SHARED = {"timestamp": AT, "created_at": AT, "updated_at": AT, "environment": "default", "metadata": {}}


def scores() -> list[UniversalBaseModel]:
    person = {"source": "ANNOTATION", "author_user_id": "user-ada", **SHARED}
    judge = {"source": "EVAL", **SHARED}
    return [
        Score_Numeric(
            id="s1", trace_id="t-1", name="kindness", value=4, comment="Warm, “well done”.", **person
        ),
        Score_Numeric(id="s2", trace_id="t-2", name="kindness", value=2, **person),
        Score_Numeric(id="s3", trace_id="t-1", name="kindness", value=5, comment="A kind reply.", **judge),
        Score_Boolean(id="s4", trace_id="t-1", name="safe", value=1, string_value="True", **judge),
        Score_Boolean(id="s5", trace_id="t-2", name="safe", value=0, string_value="False", **judge),
        Score_Categorical(id="s6", trace_id="t-1", name="tone", value=0, string_value="warm", **person),
        Score_Categorical(id="s7", trace_id="t-2", name="tone", value=1, string_value="cold", **person),
    ]


def main(folder: Path) -> None:
    data = [json.loads(score.json()) for score in scores()]
    (folder / "langfuse_scores.json").write_text(json.dumps({"data": data}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
