"""A study sent to the Hub and imported from there is the study that left, field by field, whatever its texts are."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from typing import Any

import pytest
from pyarrow import parquet

from coeval.domain import Arm, ColumnRole, Person, Study
from coeval.errors import InputError
from coeval.extensions.exchange.tool_exports import read_standing_study
from coeval.extensions.hub.study_tables import CONFIGS, file_of
from coeval.extensions.hub.transfer import (
    Target,
    import_hub,
    preview_push,
    push_study,
)
from coeval.store.queries import exports, tasks
from coeval.store.queries.reports import read
from coeval.usecases.access import Context
from coeval.usecases.study_import import import_study, list_sources
from tests.support.hosting.hub_stub import HubStub
from tests.support.studies.odd_studies import build_odd_study
from tests.support.studies.scored_study import scored
from tests.unit.rules.test_images import PNG, data

SEEDS = range(int(os.environ.get("COEVAL_ROUND_TRIPS", "6")))
"""As many studies as the suite tries; ``COEVAL_ROUND_TRIPS=200`` tries more."""

TARGET = Target("team/study", "cc0-1.0")


def push(context: Context, owner: Person, slug: str) -> str:
    seen = preview_push(context, owner, slug, TARGET)
    return push_study(context, owner, slug, TARGET, confirmed=seen.repo, digest=seen.digest).address


def stand(context: Context, slug: str) -> Study:
    with context.store.read() as db:
        return read_standing_study(db, slug)


def fields_of(study: Study, people: dict[str, str]) -> dict[str, Any]:
    """Every field of a study but the ids and times of the database; people by the names of ``people``."""
    return {
        "task": replace(study.task, id=0, slug="", origin=""),
        "instances": [replace(one, id=0) for one in study.instances],
        "criteria": [replace(one, id=0) for one in study.criteria],
        "runs": {
            each.run.label: (
                replace(each.run, id=0, created_at=""),
                [
                    replace(draft, rows=tuple(replace(row, id=0) for row in draft.rows))
                    for draft in each.drafts
                ],
            )
            for each in study.runs
        },
        "submissions": [replace(one, person=people.get(one.person, one.person)) for one in study.submissions],
    }


def read_rows(hub: HubStub, config: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet.read_table(io.BytesIO(hub.files[file_of(config)])).to_pylist()
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_what_comes_back_equals_what_left(context: Context, owner: Person, hub: HubStub, seed: int) -> None:
    import_study(context, owner, build_odd_study(seed))
    address = push(context, owner, "odd")
    assert address == f"hf://datasets/team/study@{hub.sha}"
    report = import_hub(context, owner, address, "again")
    left, came = stand(context, "odd"), stand(context, "again")
    people = {a.person: b.person for a, b in zip(left.submissions, came.submissions, strict=True)}
    assert len(set(people.values())) == len(people) and not set(people) & set(people.values())
    assert fields_of(came, {}) == fields_of(left, people)
    assert (report.instances, report.submissions) == (len(left.instances), len(left.submissions))
    with context.store.read() as db:
        task = tasks.get_task(db, "odd")
        result = read(db, exports.SCORES, task=task.id)
        names = ["person" if name == "annotator" else name for name in result.names]
        sent = [column.name for column in CONFIGS["scores"]]
        stored = [{name: row[names.index(name)] for name in sent} for row in result]
    assert read_rows(hub, "scores") == [row | {"person": people[row["person"]]} for row in stored]
    (source,) = list_sources(context, owner, "again")
    assert (source.address, source.revision) == ("hf://datasets/team/study", hub.sha)
    assert not import_hub(context, owner, address, "again").changed
    push(context, owner, "odd")
    assert len(hub.commits) == 1, "the same study is not sent twice"


def test_a_column_of_images_comes_back_as_one(context: Context, owner: Person, hub: HubStub) -> None:
    study = scored(["Ann"], n_documents=1)
    photos = (data(PNG), "https://pics.example.org/1.png")
    pictured = tuple(
        replace(one, context={"photo": photo}) for one, photo in zip(study.instances, photos, strict=True)
    )
    import_study(context, owner, replace(study, instances=pictured))
    import_hub(context, owner, push(context, owner, "demo"), "again")
    came = stand(context, "again")
    assert came.task.columns == {"photo": ColumnRole.IMAGE}
    assert tuple(one.context["photo"] for one in came.instances) == photos


def test_work_leaves_with_how_it_came_out(context: Context, owner: Person, hub: HubStub) -> None:
    study = scored(["Ann", "Bo"], n_documents=1)
    plain = replace(study.submissions[0], arm=Arm.ASSISTED, run="", rows=())
    run = replace(study.runs[0].run, params={"temperature": 0.5, "endpoint": "http://10.0.0.7:8000/v1"})
    runs = (replace(study.runs[0], run=run),)
    import_study(context, owner, replace(study, runs=runs, submissions=(plain, *study.submissions[1:])))
    with context.store.write() as db:
        # every draft is made anew after people worked on the first ones
        db.conn.execute(
            "INSERT INTO draft"
            " (run, instance, criterion, attempt, status, score, reason, raw, samples_json, created_at)"
            " SELECT run, instance, criterion, attempt + 1, status, score, reason, raw, samples_json, created_at"
            " FROM draft"
        )
    address = push(context, owner, "demo")
    arms = [row["arm"] for row in read_rows(hub, "submissions")]
    assert arms == [row["arm"] for row in read_rows(hub, "scores")] == ["undrafted"] + ["assisted"] * 7
    assert "1 with no draft to show" in hub.files["README.md"].decode()
    # the address of a model server of somebody's own stays here
    assert {row["settings"] for row in read_rows(hub, "drafts")} == {'{"temperature": 0.5}'}
    assert not any(b"10.0.0.7" in content for content in hub.files.values())
    import_hub(context, owner, address, "again")
    assert stand(context, "again").submissions[0].arm is Arm.UNDRAFTED


@pytest.mark.slow
def test_a_study_that_was_changed_by_hand_is_refused(context: Context, owner: Person, hub: HubStub) -> None:
    import_study(context, owner, scored(["Ann"], n_documents=1))
    address = push(context, owner, "demo")
    good = dict(hub.files)

    def spoil(config: str, column: str, value: object) -> None:
        table = parquet.read_table(io.BytesIO(good[file_of(config)]))
        place = table.column_names.index(column)
        rows = table.to_pylist()
        rows[0][column] = value
        import pyarrow

        changed = table.set_column(
            place,
            table.schema.field(place),
            pyarrow.array([row[column] for row in rows], table.schema.types[place]),
        )
        sink = io.BytesIO()
        parquet.write_table(changed, sink)
        hub.files = good | {file_of(config): sink.getvalue()}

    lines = [{"kind": "score", "action": "approve", "line": 99, "reason": "", "text": ""}]
    for config, column, value in (
        ("instances", "context", "[1"), ("criteria", "scale_max", 0), ("drafts", "instance", "nobody's"),
        ("submissions", "arm", "sideways"), ("submissions", "lines", lines), ("submissions", "run", "no such run"),
        ("submissions", "criterion", "No criterion."), ("submissions", "person", ""),
    ):  # fmt: skip
        spoil(config, column, value)
        with pytest.raises(
            InputError,
            match=rf"{config}.parquet, row 1: (is not as|was changed after) CoEval wrote it|contains work on lines",
        ):
            import_hub(context, owner, address, "spoilt")
    hub.files = good | {"study.json": b'{"version": 2}'}
    with pytest.raises(InputError, match="was written by another version of CoEval"):
        import_hub(context, owner, address, "spoilt")
    with context.store.read() as db:
        assert tasks.get_task(db, "spoilt") is None
