"""Long tables of people's and models' ratings, Topical-Chat's and small ones."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import mean

import numpy as np
import pytest
from scipy import stats

from coeval.datasets import load_study
from coeval.domain import Arm, Group, Scale, Study
from coeval.errors import InputError

PEOPLE = "instance,criterion,annotator,score\n"


@pytest.fixture(scope="module")
def chat(shared_data: Path) -> Study:
    return load_study(shared_data / "topical_chat", slug="tc", format="ratings-csv")


def load(tmp_path: Path, text: str, name: str = "people.csv", **mapping: str) -> Study:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return load_study(tmp_path / name, slug="t", mapping=mapping)


@pytest.mark.slow
def test_topical_chat_is_whole(chat: Study) -> None:
    assert len(chat.instances) == 360 and len({one.document for one in chat.instances}) == 60
    assert chat.instances[0].context.keys() == {"fact"}
    assert (chat.task.input_field, chat.task.output_field) == ("Dialogue", "Response")
    assert [(one.text, one.scale) for one in chat.criteria] == [
        ("coherence", Scale(1, 5)),
        ("naturalness", Scale(1, 5)),
    ]
    # 360 responses x 2 criteria x 3 people each; 5,003 model means over 7 protocols
    assert len(chat.submissions) == 2_160 and {one.person for one in chat.submissions} == set(
        ["sm", "me", "er", "fl", "yf"]
    )
    assert all(one.arm is Arm.BLIND and not one.rows and not one.run for one in chat.submissions)
    assert len(chat.runs) == 7 and sum(len(one.drafts) for one in chat.runs) == 5_003
    assert all(one.run.protocol == "imported" and one.run.params == {"n_samples": 20} for one in chat.runs)


def test_topical_chat_correlates_as_its_reference_says(chat: Study, shared_data: Path) -> None:
    reference = json.loads((shared_data / "topical_chat" / "reference.json").read_text(encoding="utf-8"))
    people = defaultdict(list)
    for one in chat.submissions:
        people[one.instance, one.criterion].append(one.score)
    for run in chat.runs:
        for criterion in ("coherence", "naturalness"):
            drafts = [one for one in run.drafts if one.criterion == criterion]
            human = np.array([mean(people[one.instance, criterion]) for one in drafts])
            model = np.array([one.score for one in drafts])
            expected = reference["correlations"][f"{criterion}/{run.run.label}"]
            assert np.corrcoef(human, model)[0, 1] == pytest.approx(expected["pearson_m1"], abs=1e-6)
            assert stats.kendalltau(human, model)[0] == pytest.approx(expected["kendall_b_m1"], abs=1e-6)


def test_a_single_table_is_for_an_existing_task(tmp_path: Path) -> None:
    study = load(tmp_path, PEOPLE + "a,clear,p1,4\na,clear,p2,\nb,clear,p1,2\n")
    assert study.instances == () and [one.score for one in study.submissions] == [4, 2]
    assert study.criteria[0].scale == Scale(1, 5)
    assert "People's ratings without a score, left out: 1." in study.notes


def test_people_and_models_may_share_a_table(tmp_path: Path) -> None:
    text = "instance,criterion,annotator,model,score,scale\na,clear,p1,,4,1-5\na,clear,,gpt,4.5,1-5\n"
    study = load(tmp_path, text + "b,clear,,gpt,NaN,1-5\n")
    assert [one.person for one in study.submissions] == ["p1"]
    (run,) = study.runs
    assert (run.run.label, [one.score for one in run.drafts]) == ("gpt", [4.5, None])
    assert run.drafts[1].reason and study.criteria[0].scale == Scale(1, 5)


@pytest.mark.parametrize(
    ("header", "rows", "scale"),
    [
        ("score,low,high", ["0,0,1", "1,0,1"], Scale(0, 1)),
        ("score,scale", ["3,1 - 7"], Scale(1, 7)),
        ("score", ["0", "1"], Scale(0, 1)),
        ("score", ["1.5", "3.5"], Scale(1, 5)),
        ("score", ["3", "3"], Scale(1, 5)),
        ("score", ["4", "5"], Scale(1, 5)),
        ("score", ["7", "7"], Scale(1, 7)),
        ("score", ["0", "7"], Scale(0, 10)),
        ("score", ["62", "95"], Scale(0, 100)),
        ("score", ["", ""], Scale(1, 5)),
    ],
)
def test_scales_stated_and_inferred(tmp_path: Path, header: str, rows: list[str], scale: Scale) -> None:
    lines = [f"i{n},clear,p,{row}" for n, row in enumerate(rows)]
    study = load(tmp_path, "\n".join([f"instance,criterion,annotator,{header}", *lines]))
    assert study.criteria[0].scale == scale
    assert any("no scale" in note for note in study.notes) == (header == "score")


def test_scores_from_0_to_1_have_a_scale_beside_a_shared_one(tmp_path: Path) -> None:
    rows = "a,true,p,0\na,clear,p,2\na,brief,p,6\nb,true,p,1\nb,clear,p,1\nb,brief,p,1\nc,always,p,1\n"
    study = load(tmp_path, PEOPLE + rows)
    assert {each.text: each.scale for each in study.criteria} == {
        "true": Scale(0, 1), "clear": Scale(1, 7), "brief": Scale(1, 7), "always": Scale(1, 7)
    }  # fmt: skip
    told = "The file states no scale for clear, brief, always; 1-7 was taken from"
    assert any(note.startswith(told) for note in study.notes)


def test_columns_can_be_mapped(tmp_path: Path) -> None:
    text = "instance,criterion,who,points\na,clear,p1,4\n"
    study = load(tmp_path, text, annotator="who", score="points")
    assert (study.submissions[0].person, study.submissions[0].score) == ("p1", 4)


REFUSALS = [
    (PEOPLE + "a,clear,p1,good\n", "line 2, column 'score': contains 'good', which is not a number"),
    (PEOPLE + "a,clear,p1,inf\n", "line 2, column 'score'"),
    (PEOPLE + "a,,p1,3\n", "line 2, column 'criterion': is empty"),
    (PEOPLE + ",clear,p1,3\n", "line 2, column 'instance': is empty"),
    (PEOPLE + "a,clear,,3\n", "line 2: names neither an annotator nor a run"),
    (
        PEOPLE + "a,clear,p1,3\na,clear,p1,4\n",
        "line 3: rates 'clear' of instance 'a' by 'p1' a second time, after people",
    ),
    (PEOPLE + "a,clear,p1,0\na,clear,p2,5000\n", "the ratings reach from 0 to 5000: a scale must rise"),
    (PEOPLE.replace("\n", ",scale\n") + "a,clear,p1,0,high\n", "contains 'high'; write a scale such as 1-5"),
    (PEOPLE.replace("\n", ",scale\n") + "a,clear,p1,0,5-1\n", "the scale 5-1 must rise"),
    (
        PEOPLE.replace("\n", ",scale\n") + "a,c,p1,0,1-5\nb,c,p1,0,1-3\n",
        "line 3: gives 'c' the scale 1-3, but",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSALS)
def test_broken_ratings_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(tmp_path, text)


def test_ratings_of_unknown_instances_and_empty_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "instances.csv").write_text("instance,prompt,reply\na,x,y\n", encoding="utf-8")
    with pytest.raises(InputError, match="contains no table of ratings"):
        load_study(tmp_path, slug="t")
    (tmp_path / "people.csv").write_text(PEOPLE + "a,clear,p1,3\nb,clear,p1,3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"people.csv, line 3: rates instance 'b', which does not exist"):
        load_study(tmp_path, slug="t")
    with pytest.raises(InputError, match="no file has a column 'points' to map 'score' to"):
        load_study(tmp_path, slug="t", mapping={"score": "points"})


def test_a_folder_maps_each_table_by_its_own_columns(tmp_path: Path) -> None:
    (tmp_path / "instances.csv").write_text("key,fact,text\na,x,y\n", encoding="utf-8")
    (tmp_path / "people.csv").write_text("key,criterion,annotator,score\na,clear,p1,3\n", encoding="utf-8")
    mapping = {"instance": "key", "input": "fact", "output": "text"}
    study = load_study(tmp_path, slug="t", mapping=mapping)
    assert study.instances[0].external_id == study.submissions[0].instance == "a"
    assert (study.instances[0].input, study.instances[0].output) == ("x", "y")


GROUPED = "instance,criterion,annotator,score,group\ni,c,Ann,4,crowd\ni,c,Bob,3,Expert\ni,c,Cid,3,\nj,c,Ann,2,arm b\n"


def test_a_column_says_which_group_people_count_in(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(GROUPED, encoding="utf-8")
    study = load_study(path, slug="s", format="ratings-csv")
    groups = {one.person: one.group for one in study.submissions}
    assert groups == {"Ann": Group.CROWD, "Bob": Group.EXPERT, "Cid": None}
    assert any(
        "a group other than team, expert, crowd" in note and note.endswith(": 1.") for note in study.notes
    )
    path.write_text(GROUPED.replace("arm b", "team"), encoding="utf-8")
    with pytest.raises(
        InputError, match="line 5: puts 'Ann' in the group team, but an earlier row says crowd"
    ):
        load_study(path, slug="s", format="ratings-csv")
