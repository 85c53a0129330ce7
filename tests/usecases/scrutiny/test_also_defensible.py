"""Further scores that a person would defend too: saved with the score, shown again, exported, and counted."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from coeval.domain import Person, Study
from coeval.errors import InputError
from coeval.rules.arms import Design
from coeval.stats.report.response_sets import response_sets_section
from coeval.ui.app.step_json import step_json
from coeval.usecases.access import Context
from coeval.usecases.export import export_folder
from coeval.usecases.reports.statistics import get_frames
from coeval.usecases.scrutiny.design import get_design, set_design
from coeval.usecases.scrutiny.steps import get_step, submit
from coeval.usecases.sessions import sign_in
from coeval.usecases.study_import import import_study
from tests.support.studies.scrutiny_steps import go_on, here, save, sent_of, use_design


def test_a_second_score_is_kept_and_counts(
    context: Context, owner: Person, study: Study, tmp_path: Path
) -> None:
    import_study(context, owner, study)
    set_design(context, owner, "demo", Design(blind_share=1, offers_also=True))
    assert get_design(context, owner, "demo").design.offers_also
    ana, ben = sign_in(context, "Ana")[0], sign_in(context, "Ben")[0]
    step = get_step(context, ana, "demo")
    assert submit(context, ana, "demo", replace(sent_of(step, 3), also="5 4 3 4")).also == "4 5"
    again = get_step(context, ana, "demo", here(step))
    (row,) = step_json(again)["evaluation"]["rows"]
    assert row["own"] == {"also": "4 5"}
    save(context, ben, get_step(context, ben, "demo", here(step)), 4)
    found = response_sets_section(get_frames(context, owner, "demo"))
    assert found.with_more == 1 and (float(found.people.same.value), float(found.people.overlap.value)) == (
        0,
        1,
    )
    # the next save says nothing further, and it counts
    save(context, ana, again, 3)
    assert response_sets_section(get_frames(context, owner, "demo")).with_more == 0
    export_folder(context, owner, "demo", tmp_path)
    with (tmp_path / "scores.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["also"] for row in csv.DictReader(file)] == ["4 5", "", ""]


def test_scores_off_the_scale_are_refused(context: Context, owner: Person, study: Study) -> None:
    import_study(context, owner, study)
    person = sign_in(context, "Ana")[0]
    for also in ("6", "3 0", "-", "4.5"):
        with pytest.raises(InputError, match="is not on the scale"):
            submit(context, person, "demo", replace(sent_of(get_step(context, person, "demo"), 3), also=also))


def test_it_is_offered_only_where_the_owner_says_so(context: Context, owner: Person, study: Study) -> None:
    import_study(context, owner, study)
    use_design(context, owner, first_share=1, offers_also=True)
    person = sign_in(context, "Ana")[0]
    step = get_step(context, person, "demo")
    assert step.awaits_first and not any("own" in row for row in step_json(step)["evaluation"]["rows"])
    save(context, person, step, 4)
    shown = step_json(get_step(context, person, "demo", here(step)))["evaluation"]["rows"]
    assert [row["own"] for row in shown if "own" in row] == [{"also": ""}]
    use_design(context, owner)
    assert not any("own" in row for row in step_json(go_on(context, person, step))["evaluation"]["rows"])
