"""Fused runs and their assistants against people, as in Fusion-Eval's tables 2 and 3."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from coeval.cli.commands import main
from coeval.domain import (
    Arm,
    Criterion,
    ImportedDraft,
    ImportedRun,
    ImportedSubmission,
    Instance,
    Run,
    Study,
    Task,
)
from coeval.errors import InputError
from coeval.extensions.fusion.correlations import FUSED, correlate_run
from coeval.store.queries import drafts, tasks
from coeval.usecases.access import OPERATOR, Context, require_task
from coeval.usecases.study_import import import_study

PEOPLE = {"1a": (1, 3), "1b": (2, 2), "1c": (3, 4), "2a": (5, 5), "2b": (4, 1), "2c": (5, 2)}
"""People's scores of two criteria: their means are 2, 2, 3.5, 5, 2.5 and 3.5."""

FUSED_SCORES = {"1a": (1, 1), "1b": (2, 2), "1c": (3, 3), "2a": (5, 5), "2b": (4, 4), "2c": (5, 5)}
WHOLE = {"1a": 2.0, "1b": 2.0, "1c": 3.5, "2a": 5.0, "2b": 2.5, "2c": 3.5}
NLI = {"1a": 0.9, "1b": 0.8, "1c": 0.7, "2a": 0.5, "2b": 0.6, "2c": 0.5}
"""The people's scores of the first criterion, turned round."""


def add_study(context: Context, *texts: str) -> None:
    instances = tuple(Instance(name, f"Q{name[0]}", f"A {name}", f"d{name[0]}", name[1]) for name in PEOPLE)
    drafted = tuple(
        ImportedDraft(name, text, float(score))
        for name, scores in FUSED_SCORES.items()
        for text, score in zip(texts, scores, strict=True)
    )
    work = tuple(
        ImportedSubmission("Ada", name, text, float(score), arm=Arm.BLIND)
        for name, scores in PEOPLE.items()
        for text, score in zip(texts, scores, strict=True)
    )
    run = Run("fusion", "m", "fused", params={"assistants": ["nli"]}, shown=True)
    criteria = tuple(Criterion(text) for text in texts)
    import_study(
        context,
        OPERATOR,
        Study(Task("demo", "A task", "d"), instances, criteria, (ImportedRun(run, drafted),), work),
    )
    with context.store.write() as db:
        task = require_task(db, "demo")
        stored = drafts.get_run(db, task.id, "fused")
        drafts.record_assistant_scores(db, task.id, "nli", NLI)
        for name, instance in tasks.get_instances_by_external_id(db, task.id, list(WHOLE)).items():
            drafts.record_overall(db, stored.id, instance.id, WHOLE[name], "")


def row(frame: pd.DataFrame, *key: str) -> pd.Series:  # type: ignore[type-arg]
    return frame.set_index(["criterion", "judge", "level"]).loc[key]


def test_the_run_and_its_assistants_are_compared_with_people_at_every_level(context: Context) -> None:
    """The run repeats people on the first criterion, its overall is their mean, and nli is the first turned round.

    Means of the systems a, b and c by the first criterion: 3, 3 and 4; those of nli: .7, .7 and .6.
    """
    add_study(context, "Be true.", "Be clear.")
    people, among = (table.frame for table in correlate_run(context, OPERATOR, "demo", "fused"))
    for level in ("dataset", "document", "system"):
        assert row(people, "Be true.", FUSED, level)["pearson"] == pytest.approx(1)
        assert row(people, "overall", FUSED, level)["pearson"] == pytest.approx(1)
        assert row(people, "Be true.", "nli", level)["kendall"] == pytest.approx(-1)
    assert row(people, "Be true.", "nli", "dataset")["n"] == 6
    assert row(people, "overall", "nli", "dataset")["spearman"] < 0
    assert row(people, "Be clear.", FUSED, "dataset")["pearson"] < 0.5
    assert row(among, "Be true.", "nli", "dataset")["pearson"] == pytest.approx(-1)


def test_the_overall_of_people_is_their_criterion_of_this_name(context: Context) -> None:
    """Overall is scored 3, 2, 4, 5, 1 and 2, and the run's own overall differs from it."""
    add_study(context, "Be true.", "Overall.")
    people = correlate_run(context, OPERATOR, "demo", "fused")[0].frame
    theirs = pd.Series([3, 2, 4, 5, 1, 2.0])
    expected = theirs.corr(pd.Series(list(WHOLE.values())))
    assert row(people, "overall", FUSED, "dataset")["pearson"] == pytest.approx(expected)


@pytest.mark.sqlite
def test_the_command_prints_the_tables(context: Context, capsys: pytest.CaptureFixture[str]) -> None:
    add_study(context, "Be true.", "Be clear.")
    where = ["fusion", "--db", str(context.settings.db), "--task", "demo", "--run", "fused"]
    main(where)
    assert "| Be true. | fused run | dataset | 6 | 1.000 |" in capsys.readouterr().out
    main([*where, "--json"])
    assert json.loads(capsys.readouterr().out)["fused_people"][0]["pearson"] == pytest.approx(1)
    with pytest.raises(InputError, match="no run “other” with assistants"):
        correlate_run(context, OPERATOR, "demo", "other")
