"""Which scores count where: no draft's lead in the labels, nothing that was wrong on purpose beside the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from coeval.stats import build_report
from coeval.stats.frames import StudyFrames, once
from coeval.stats.report.activity import (
    score_change_section,
)
from coeval.stats.report.alignment import alignment_section
from coeval.stats.report.document import study_notes
from coeval.stats.report.draft_account import draft_account_section
from coeval.stats.report.model_vs_people import choose_labels
from tests.support.studies.stats_frames import make_frames, simulate_frames


def one(person: str, instance: str, arm: str, score: float, **more: Any) -> dict[str, Any]:
    return {"annotator": person, "instance": instance, "arm": arm, "score": score, "draft_score": 3.0, **more}


def mixed() -> StudyFrames:
    """Ann works blind, Ben assisted, Cy first: 1 before the draft was shown, 3 (its score) after."""
    rows = [
        row
        for name in ("x", "y")
        for row in (
            one("ann", name, "blind", 2.0),
            one("ben", name, "assisted", 3.0, shown_score=3.0),
            one("cy", name, "first", 3.0, shown_score=3.0, first_score=1.0),
        )
    ]
    drafts = [{"instance": name, "score": 3.0} for name in ("x", "y")]
    return make_frames(rows, drafts)


def test_the_labels_are_blind_scores_and_first_scores() -> None:
    labels = choose_labels(mixed())
    assert (labels.kind, labels.leaned) == ("blind and first", False)
    given = labels.scored.groupby(["annotator", "arm"])["score"].apply(list).to_dict()
    assert given == {("ann", "blind"): [2.0, 2.0], ("cy", "first"): [1.0, 1.0]}
    section = alignment_section(mixed())
    assert (section.n_labels, section.n_blind, section.n_first) == (4, 2, 2)
    # the people's median of each unit is 1.5 and the model's score 3: it is 1.5 above
    assert section.runs[0].against.confusion.bias == pytest.approx(1.5)


def test_first_scores_alone_are_labels_too() -> None:
    study = mixed()
    alone = replace(study, scores=study.scores[study.scores["arm"] == "first"])
    labels = choose_labels(alone)
    assert (labels.kind, labels.leaned, list(labels.scored["score"])) == ("first", False, [1.0, 1.0])


def test_scores_from_before_there_was_a_draft_are_labels_that_no_draft_led() -> None:
    """The page said "with the draft in view" of a study that imported its only run after the scores."""
    before = [one("ann", "x", "undrafted", 2.0), one("ann", "y", "undrafted", 4.0)]
    labels = choose_labels(make_frames(before, [{"instance": name, "score": 3.0} for name in ("x", "y")]))
    assert (labels.kind, labels.leaned, len(labels.scored)) == ("undrafted", False, 2)
    mixed_in = make_frames([*before, one("bo", "x", "assisted", 3.0)])
    assert (choose_labels(mixed_in).kind, choose_labels(mixed_in).leaned) == ("assisted", True)


def test_a_final_score_of_the_arm_first_is_no_label() -> None:
    study = make_frames([one("cy", "x", "first", 3.0), one("dee", "x", "blind", 2.0)])
    assert list(choose_labels(study).scored["annotator"]) == ["dee"]


@pytest.mark.slow
def test_planted_drafts_are_left_out_of_everything_that_holds_the_draft() -> None:
    study = simulate_frames(planted=0.0, instances=40)
    scores = study.scores.copy()
    hit = (scores["arm"] == "assisted") & (np.arange(len(scores)) % 7 == 0)
    scores.loc[hit, "planted_score"] = True
    # whatever the people did there is far from the draft: it must not move a single figure
    wild = scores.copy()
    wild.loc[hit, "score"] = np.where(scores.loc[hit, "draft_score"] > 3, 1.0, 5.0)
    ours, theirs = replace(study, scores=scores), replace(study, scores=wild)
    assert score_change_section(ours).n_planted_left_out == hit.sum()
    assert score_change_section(ours) == score_change_section(theirs)
    found, other = (draft_account_section(part).arms[0] for part in (ours, theirs))
    for name in ("adoption", "distance", "agreement"):
        assert found.of(name).difference.value == other.of(name).difference.value
    reports = [build_report(part) for part in (ours, theirs)]
    model = [[row for row in report["agreement"]["pairwise"] if row["b"] == "llm"] for report in reports]
    assert model[0] == model[1] and len(model[0]) == 5
    assert reports[0]["agreement"]["humans"] != reports[1]["agreement"]["humans"]
    means = [report["alignment"]["mean_pairwise_correlations"]["llm_assisted"] for report in reports]
    assert means[0] == means[1]
    note = next(note for note in study_notes(ours) if "wrong on purpose" in note)
    assert note.startswith(f"{hit.sum()} submissions")


def test_the_arm_first_has_its_own_figures() -> None:
    section = draft_account_section(mixed()).first
    assert (section.n, section.n_instances) == (2, 2)
    assert (section.same_before, section.same_after, section.adoption.value) == (0.0, 1.0, 1.0)
    assert (section.towards, section.away, section.kept) == (1.0, 0.0, 0.0)


def test_a_shared_statistic_is_computed_once_for_each_study() -> None:
    seen = []

    @once
    def counted(study: StudyFrames, *, step: int = 1) -> int:
        seen.append(step)
        return len(study.scores) + step

    first, second = mixed(), mixed()
    assert [counted(first), counted(first, step=1), counted(first, step=2), counted(second)] == [7, 7, 8, 7]
    assert seen == [1, 2, 1]
