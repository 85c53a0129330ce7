"""Sealed lines as judge.json has them: outputs by salted hashes, people by their number."""

from __future__ import annotations

import hashlib
from typing import Any

import pandas as pd

from coeval.domain import Instance, Task
from coeval.domain.seals import Seal
from coeval.judge.artifact.building import mark_output
from coeval.judge.artifact.schema import Label
from coeval.judge.labels import Labels
from coeval.judge.learning.lines import KEYS, people_lines
from coeval.judge.parts import mark_document
from coeval.store import Database
from coeval.store.queries import tasks


def get_file_salt(seal: Seal) -> str:
    """The salt of hashes in a task's judge.json: always the same, and no way back to the salt of the seal."""
    return hashlib.sha256(f"{seal.salt}\x1fjudge.json".encode()).hexdigest()


def document_of(instance: Instance) -> str:
    """What an instance belongs to; without a document it stands alone."""
    return instance.document or instance.external_id


def describe_lines(
    db: Database, task: Task, seal: Seal, labels: Labels, scores: pd.DataFrame
) -> list[dict[str, Any]]:
    """What people and the judge said of each line that both scored."""
    lines = (
        people_lines(labels).merge(scores[[*KEYS, "score", "raw"]], on=KEYS).dropna(subset=["score", "raw"])
    )
    known = tasks.get_instances_by_external_id(db, task.id, dict.fromkeys(lines["instance"]))
    salt = get_file_salt(seal)
    marks = {
        name: (mark_document(document_of(one), salt), mark_output(one, salt)) for name, one in known.items()
    }
    return [
        Label(
            document=marks[line["instance"]][0],
            output=marks[line["instance"]][1],
            system=line["system"],
            criterion=line["criterion"],
            people=line["human"],
            n_people=line["people"],
            raw=line["raw"],
            score=line["score"],
        ).model_dump(mode="json")
        for line in lines.to_dict("records")
        if line["instance"] in marks
    ]
