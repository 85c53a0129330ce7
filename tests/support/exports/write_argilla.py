"""Writes Argilla's records among the tests' data with its own classes.

``python write_argilla.py FOLDER`` in an environment of its own (argilla 2.8).
"""

import sys
from pathlib import Path
from uuid import UUID

import argilla as rg
from argilla.records._io._json import JsonIO

ANN, BO = UUID(int=1), UUID(int=2)


def records():
    yield rg.Record(
        id="r-001",
        fields={
            "instruction": "How do I sow beans?",
            "response": [{"role": "assistant", "content": "🫘 Two fingers deep, in May."}],
        },
        metadata={"plot": "007", "n": 3},
        suggestions=[rg.Suggestion("quality", 4, score=0.9, agent="judge-1")],
        responses=[
            rg.Response("quality", 5, user_id=ANN),
            rg.Response("quality", 3, user_id=BO),
            rg.Response("flaws", ["vague", "long"], user_id=ANN),
            rg.Response("passages", [{"start": 2, "end": 13, "label": "good"}], user_id=ANN),
            rg.Response("why", "Clear,\nand short", user_id=ANN),
        ],
    )
    yield rg.Record(
        id="r-002",
        fields={"instruction": "And peas?", "response": "NA"},
        responses=[rg.Response("quality", 1, user_id=ANN), rg.Response("flaws", ["vague"], user_id=BO)],
    )


def main(folder: Path) -> None:
    JsonIO.to_json(list(records()), folder / "argilla.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
