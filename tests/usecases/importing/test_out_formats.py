"""Formats for other tools: whose scores become which pairs and means, and what an empty study is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import jsonschema
import pytest

from coeval.cli.commands import main
from coeval.domain import (
    Action,
    Criterion,
    ImportedDraft,
    ImportedRun,
    ImportedSubmission,
    Instance,
    Person,
    RowKind,
    Run,
    Scale,
    ScrutinyRow,
    Study,
    Task,
)
from coeval.domain.tasks import Turn, render_chat
from coeval.errors import InputError
from coeval.usecases.access import Context
from coeval.usecases.export import export_as
from coeval.usecases.out_format import list_out_formats
from coeval.usecases.study_import import import_study

TRUE, BRIEF = Criterion("Be true.", name="Truth"), Criterion("Be brief.", scale=Scale(1, 3))
GIVEN: Mapping[tuple[str, str], Mapping[str, float]] = {
    ("a1", TRUE.text): {"Ann": 5, "Bob": 4},
    ("a2", TRUE.text): {"Ann": 2},
    ("a1", BRIEF.text): {"Ann": 2},
    ("a2", BRIEF.text): {"Ann": 2, "Bob": 2},
    ("b1", TRUE.text): {"Ann": 3},
    ("b2", TRUE.text): {"Ann": 4},
}
"""Scores by output and criterion: nobody judged b1 and b2 by the second."""


def build_study(text: str = "Why {}?") -> Study:
    instances = tuple(
        Instance(doc + n, text.format(doc), f"Answer {n}", document=doc, system=f"org/model {n}")
        for doc in "ab"
        for n in "12"
    )
    work = [
        ImportedSubmission(
            person, instance, criterion, score,
            rows=(ScrutinyRow(RowKind.CONCLUSION, Action.ADD, text=f"{person} on {instance}"),
                  ScrutinyRow(RowKind.SCORE, Action.ADD, text=f"{score:g}")),
        )
        for (instance, criterion), scores in GIVEN.items()
        for person, score in scores.items()
    ]  # fmt: skip
    return Study(Task("t", "Why questions"), instances, (TRUE, BRIEF), submissions=tuple(work))


def export(context: Context, owner: Person, name: str, folder: Path) -> list[Any]:
    paths = export_as(context, owner, "t", name, folder)
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return [json.loads(line) for text in texts for line in ([text] if len(paths) > 1 else text.splitlines())]


def test_pairs_by_criterion(context: Context, owner: Person, tmp_path: Path) -> None:
    import_study(context, owner, build_study())
    first, second = export(context, owner, "preferences", tmp_path)
    assert first == {
        "prompt": "Why a?", "chosen": "Answer 1", "rejected": "Answer 2", "criterion": "Be true.",
        "score_chosen": 4.5, "score_rejected": 2.0, "scores_chosen": [5.0, 4.0], "scores_rejected": [2.0],
        "rationale_chosen": ["Ann on a1", "Bob on a1"], "rationale_rejected": ["Ann on a2"],
        "system_chosen": "org/model 1", "system_rejected": "org/model 2",
        "instance_chosen": "a1", "instance_rejected": "a2", "document": "a",
    }, "the tie by the other criterion is left out"  # fmt: skip
    assert (second["instance_chosen"], second["instance_rejected"]) == ("b2", "b1")


def test_pairs_for_a_reward_model(context: Context, owner: Person, tmp_path: Path) -> None:
    import_study(context, owner, build_study())
    (row,) = export(context, owner, "reward-model", tmp_path)
    # each mean on 0 to 1 by its own scale: (4.5 - 1) / 4 and (2 - 1) / 2; (2 - 1) / 4 and (2 - 1) / 2
    assert row["score_chosen"] == pytest.approx(fmean([0.875, 0.5]))
    assert row["score_rejected"] == pytest.approx(fmean([0.25, 0.5]))
    assert row["margin"] == pytest.approx(row["score_chosen"] - row["score_rejected"])
    assert row["criteria"] == ["Be true.", "Be brief."]
    assert (row["scores_chosen"], row["scores_rejected"]) == ([4.5, 2.0], [2.0, 2.0])
    assert row["rationale_chosen"] == [["Ann on a1", "Bob on a1"], ["Ann on a1"]]


def test_a_conversation_becomes_messages(context: Context, owner: Person, tmp_path: Path) -> None:
    chat = render_chat([Turn("user", "Why {}?")])
    import_study(context, owner, build_study(chat))
    (row,) = export(context, owner, "reward-model", tmp_path)
    assert row["prompt"] == [{"role": "user", "content": "Why a?"}]
    assert row["chosen"] == [{"role": "assistant", "content": "Answer 1"}]


def test_every_eval_ever(context: Context, owner: Person, tmp_path: Path) -> None:
    import_study(context, owner, build_study())
    one, two = export(context, owner, "every-eval-ever", tmp_path)
    jsonschema.validate(one, SCHEMA)
    jsonschema.validate(two, SCHEMA)
    assert one["model_info"] == {"name": "org/model 1", "id": "org/model 1"}
    truth, brief = one["evaluation_results"]
    assert (truth["evaluation_name"], brief["evaluation_name"]) == ("Truth", "Be brief.")
    assert truth["score_details"]["score"] == fmean([4.5, 3.0]), "each output counts once"
    spread = truth["score_details"]["uncertainty"]
    assert spread["num_samples"] == 2 and spread["confidence_interval"]["lower"] < 3.75
    assert (brief["metric_config"]["min_score"], brief["metric_config"]["max_score"]) == (1, 3)
    (place, _) = tmp_path.rglob("*.json")
    assert place.parent == tmp_path / "t" / "org"


def test_a_judge_in_every_eval_ever(context: Context, owner: Person, tmp_path: Path) -> None:
    study = build_study()
    drafts = tuple(ImportedDraft(one.external_id, TRUE.text, 4.0) for one in study.instances)
    run = ImportedRun(Run("conclusion", "judge-1", "first", prompt_hash="ab12"), drafts)
    import_study(context, owner, replace(study, runs=(run,)))
    one, _ = export(context, owner, "every-eval-ever", tmp_path)
    jsonschema.validate(one, SCHEMA)
    (judged,) = [result for result in one["evaluation_results"] if "judge" in result["evaluation_name"]]
    assert judged["score_details"]["score"] == 4
    told = judged["metric_config"]["llm_scoring"]
    assert told["judges"] == [{"model_info": {"name": "judge-1", "id": "judge-1"}}]
    assert told["input_prompt"] == "CoEval protocol conclusion, template ab12"


def test_names_of_systems_are_no_paths(context: Context, owner: Person, tmp_path: Path) -> None:
    study = build_study()
    names = ("../../etc", "..", "/root/x", "a\\b", "")
    hostile = [replace(one, system=names[n]) for n, one in enumerate(study.instances)]
    import_study(context, owner, replace(study, instances=tuple(hostile)))
    paths = export_as(context, owner, "t", "every-eval-ever", tmp_path / "out")
    assert len(paths) == 4 and all((tmp_path / "out") in path.resolve().parents for path in paths)


# a study goes to Label Studio to be judged there
@pytest.mark.parametrize("name", sorted({each.name for each in list_out_formats()} - {"label-studio"}))
def test_a_study_without_scores_says_what_is_missing(
    name: str, context: Context, owner: Person, tmp_path: Path
) -> None:
    import_study(context, owner, replace(build_study(), submissions=()))
    with pytest.raises(InputError, match=f"nothing to export as {name} yet"):
        export_as(context, owner, "t", name, tmp_path)
    with pytest.raises(InputError, match="is not an export format"):
        export_as(context, owner, "t", "csv", tmp_path)


def test_the_command(
    context: Context, owner: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_study(context, owner, build_study())
    db = str(context.store.address)
    main(["export", "--db", db, "--task", "t", "--out", str(tmp_path / "out"), "--as", "preferences"])
    assert capsys.readouterr().out.strip() == str(tmp_path / "out" / "preferences.jsonl")
    with pytest.raises(SystemExit):
        main(["export", "--help"])
    assert all(name in capsys.readouterr().out for name in ("preferences",))


def needing(*names: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(names), "properties": properties}


NUMBER, TEXT, TEXTS = (
    {"type": "number"},
    {"type": "string"},
    {"type": "object", "additionalProperties": {"type": "string"}},
)
SCHEMA = needing(
    "schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info", "eval_library",
    "evaluation_results",
    source_metadata=needing(
        "source_type", "source_organization_name", "evaluator_relationship",
        source_type={"enum": ["documentation", "evaluation_run"]},
        evaluator_relationship={"enum": ["first_party", "third_party", "collaborative", "other"]},
    ),
    eval_library=needing("name", "version"),
    model_info=needing("name", "id"),
    evaluation_results={"type": "array", "minItems": 1, "items": needing(
        "evaluation_name", "source_data", "metric_config", "score_details",
        source_data=needing("dataset_name", "source_type", source_type={"const": "other"}, additional_details=TEXTS),
        metric_config=needing(
            "lower_is_better", "min_score", "max_score", min_score=NUMBER, max_score=NUMBER,
            lower_is_better={"type": "boolean"}, score_type={"const": "continuous"},
            llm_scoring=needing("judges", "input_prompt", input_prompt=TEXT, judges={
                "type": "array", "minItems": 1,
                "items": needing("model_info", model_info=needing("name", "id", name=TEXT, id=TEXT)),
            }),
        ),
        score_details=needing("score", score=NUMBER, details=TEXTS, uncertainty=needing(
            standard_error=needing("value", value=NUMBER, method=TEXT),
            confidence_interval=needing(
                "lower", "upper", lower=NUMBER, upper=NUMBER, confidence_level=NUMBER | {"maximum": 1}, method=TEXT,
            ),
            num_samples={"type": "integer"},
        )),
    )},
) | {"additionalProperties": False}  # fmt: skip
"""What version 0.2.1 of the shared schema requires, and of which type what we write has to be."""
SCHEMA["properties"] |= {name: TEXT for name in ("schema_version", "evaluation_id", "retrieved_timestamp")}
