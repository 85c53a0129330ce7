"""The public CoEval release: the real study gives its known figures, and its oddities are all met."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import mean

import pytest

from coeval.datasets import load_study
from coeval.domain import Action, RowKind, ScrutinyRow, Study
from coeval.errors import InputError
from coeval.extensions.replication.released_files import (
    Line,
    is_header,
    parse_line,
    read_model_score,
    read_time,
)
from coeval.usecases.access import OPERATOR, Context
from coeval.usecases.export import export_as
from coeval.usecases.study_import import ImportOptions, import_file

FOLDER = "coeval_release_eli5"


@pytest.fixture(scope="module")
def eli5(shared_data: Path) -> Study:
    return load_study(shared_data / FOLDER, slug="eli5")


@pytest.fixture(scope="module")
def reference(shared_data: Path) -> dict:
    return json.loads((shared_data / FOLDER / "reference.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_eli5_is_whole(eli5: Study) -> None:
    assert len(eli5.instances) == 200 and len(eli5.criteria) == 5
    assert len({one.document for one in eli5.instances}) == 50
    assert len(eli5.runs) == 1 and len(eli5.runs[0].drafts) == 1_000
    assert len(eli5.submissions) == 5_000
    assert [one.external_id for one in eli5.instances] == [str(n) for n in range(1, 201)]
    assert (eli5.task.input_field, eli5.task.output_field) == ("Reddit question", "Answer")
    assert "five-year-olds" in eli5.task.description


def test_eli5_actions(eli5: Study, shared_data: Path) -> None:
    # headings with words before their colon are no lines: 21,538 rows, of which 11,538 are evidence
    reference = json.loads((shared_data / FOLDER / "reference_actions.json").read_text(encoding="utf-8"))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for submission in eli5.submissions:
        for row in submission.rows:
            counts["overall"][row.action] += 1
            counts[row.kind][row.action] += 1
    for kind, expected in reference["actions"].items():
        assert counts[kind].total() == expected["n"]
        for action in Action:
            assert counts[kind][action] / expected["n"] == pytest.approx(expected[action], abs=1e-12)


def test_eli5_scores_and_changes(eli5: Study, reference: dict) -> None:
    drafted = {(one.instance, one.criterion): one.score for one in eli5.runs[0].drafts}
    changes: Counter[str] = Counter()
    for submission in eli5.submissions:
        change = submission.score - drafted[submission.instance, submission.criterion]
        changes["improve" if change > 0 else "decrease" if change < 0 else "unchanged"] += 1
    assert changes == reference["final_score_vs_llm"]  # 421, 887, 3692


def test_eli5_means_by_system(eli5: Study, reference: dict) -> None:
    system = {one.external_id: one.system for one in eli5.instances}
    people, model = defaultdict(list), defaultdict(list)
    for submission in eli5.submissions:
        people[system[submission.instance]].append(submission.score)
    for draft in eli5.runs[0].drafts:
        model[system[draft.instance]].append(draft.score)
    for name, expected in reference["per_source"]["raw"].items():
        assert len(people[name]) == expected["humans_n"] and len(model[name]) == expected["llm_n"]
        assert mean(people[name]) == pytest.approx(expected["humans_mean"], abs=1e-12)
        if name != "davinci_002":
            assert mean(model[name]) == pytest.approx(expected["llm_mean"], abs=1e-12)
    # Instance 145, criterion 5: the text is "Evaluation:\n\n1. The answer ...\n2. Score: 2 out of 5." and
    # every person kept 2. The reference took the "1" of its second row there (the heading not dropped), so
    # its mean is one point in 250 lower, while its own alphas and score changes hold only with the 2.
    assert mean(model["davinci_002"]) == pytest.approx(4.256 + 1 / 250, abs=1e-12)


def test_eli5_actions_point_at_the_drafted_line(eli5: Study) -> None:
    drafts = {(one.instance, one.criterion): one for one in eli5.runs[0].drafts}
    for submission in eli5.submissions:
        rows = drafts[submission.instance, submission.criterion].rows
        for row in submission.rows:
            assert (row.draft_row is None) == (row.action is Action.ADD)
            assert row.draft_row is None or rows[row.draft_row].kind is row.kind


def test_eli5_quotes_are_mostly_found(eli5: Study) -> None:
    rows = [row for draft in eli5.runs[0].drafts for row in draft.rows]
    assert all(row.kind is RowKind.EVIDENCE for row in rows if row.quotes)
    quotes = [quote for row in rows for quote in row.quotes]
    assert len(quotes) > 2_000 and mean(quote.found for quote in quotes) > 0.9


# Small studies of the other tasks' shapes

STORY = {"story requirement": "Write about a kite.", "story": "The kite flew high. It was red."}
CLARITY, PLOT = "1. Clarity: The story should be clear.", "2. Plot: The story should end well."
DRAFTED = [
    "1. Conclusion: It is clear.",
    "2. Score: 4 out of 5.",
    "3. Evidence:",
    '- "It was red." is short.',
]


def keep(*texts: str) -> list[list[str]]:
    return [[text, "1", "", "", ""] for text in texts]


def work(rows: list[list[str]], score: object = 4.0, **times: object) -> dict[str, object]:
    defaults = {"start_time": "2023-05-29 23:59:30", "end_time": "2023-05-30 00:00:10"}
    return {"final_score": score, **defaults, **times, "eval_result": rows}


def write_release(folder: Path, files: Mapping[str, object], combined: object = None) -> Path:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps({name: content}), encoding="utf-8")
    if combined is not None:
        (folder / "combine_data.json").write_text(json.dumps(combined), encoding="utf-8")
    return folder


def one_instance(**criteria: object) -> dict[str, object]:
    return {"1": {**STORY, "criteria": {CLARITY: criteria["clarity"]}, "model": "turbo"}}


def load_one(tmp_path: Path, *rows: list[str], score: object = 4.0, **times: object) -> Study:
    entry = one_instance(clarity=work(list(rows), score, **times))
    return load_study(write_release(tmp_path, {"A06": entry}), slug="roc")


def test_a_story_task_is_taken_by_its_own_names(tmp_path: Path) -> None:
    study = load_one(tmp_path, *keep(*DRAFTED))
    assert (study.task.input_field, study.task.output_field) == ("Story requirement", "Story")
    assert study.criteria[0].name == "Clarity" and study.criteria[0].text == CLARITY
    (draft,) = study.runs[0].drafts
    assert draft.score == 4 and [row.kind for row in draft.rows] == list(RowKind)
    (quote,) = draft.rows[2].quotes
    assert study.instances[0].output[quote.start : quote.end] == "It was red."
    (submission,) = study.submissions
    assert [row.draft_row for row in submission.rows] == [0, 1, 2]
    # the span crosses midnight: 30 s before, 10 s after
    assert (submission.opened_at, submission.submitted_at) == (
        "2023-05-29T23:59:30.000Z",
        "2023-05-30T00:00:10.000Z",
    )


def test_an_instruction_task_with_two_people_in_different_orders(tmp_path: Path) -> None:
    texts = {"instruction": "Write a tweet.", "response": "Hello!"}
    first = {"criteria": {CLARITY: work(keep("ok", "2. Score: 5")), PLOT: work(keep("no", "Score: 2"), 1)}}
    second = {
        "criteria": {PLOT: work(keep("no", "Score: 2"), 2), CLARITY: work(keep("ok", "2. Score: 5"), 3)}
    }
    files = {"A11": {"7": {**texts, **first}}, "A12": {"7": {**texts, **second}}}
    study = load_study(write_release(tmp_path, files), slug="si")
    scores = {(one.person, one.criterion): one.score for one in study.submissions}
    assert scores == {("A11", CLARITY): 4, ("A11", PLOT): 1, ("A12", PLOT): 2, ("A12", CLARITY): 3}
    assert {one.criterion: one.score for one in study.runs[0].drafts} == {CLARITY: 5, PLOT: 2}
    assert [one.text for one in study.criteria] == [CLARITY, PLOT]


def test_the_right_task_of_combine_data_is_found(tmp_path: Path) -> None:
    def task(name: str, target: str, text: str) -> dict[str, object]:
        return {"task_info": [name], "source": ["x"], "target": [target], "criteria_kv": {CLARITY: [text]}}

    combined = {
        "eli5": task("explain", "other", ""),
        "roc": task("tell", STORY["story"] + " ", "2. Score: 3"),
    }
    entry = one_instance(clarity=work(keep(*DRAFTED)))
    study = load_study(write_release(tmp_path, {"A06": entry}, combined), slug="s")
    assert (study.task.name, study.task.description) == ("roc", "tell")
    assert study.runs[0].drafts[0].score == 3 and study.runs[0].drafts[0].raw == "2. Score: 3"
    assert any("Inputs that differ" in note and note.endswith(": 1.") for note in study.notes)


def test_each_action_and_its_words(tmp_path: Path) -> None:
    rows = [
        ["1. It is clear. ", "1,logic", "", "", ""],
        ["2. Score: 4", "", "", " too low ", "2. score：5"],
        [" 3. EVIDENCE : ", "", "no need", "", ""],
        ["- a", "", "Unrelated", "", ""],
        ["- b", "11", "", "", ""],
        ["- c", "", "", "", "- see"],
        ["", "", "", "Overall", "- new"],
        ["", " ", "", "", ""],
    ]
    (submission,) = load_one(tmp_path, *rows, score=5.0).submissions
    assert submission.rows == (
        ScrutinyRow(RowKind.CONCLUSION, Action.APPROVE, 0, "logic"),
        ScrutinyRow(RowKind.SCORE, Action.REVISE, 1, "too low", "2. score：5"),
        ScrutinyRow(RowKind.EVIDENCE, Action.DELETE, 2, "Unrelated"),
        ScrutinyRow(RowKind.EVIDENCE, Action.APPROVE, 3),
        ScrutinyRow(RowKind.EVIDENCE, Action.REVISE, 4, "", "- see"),
        ScrutinyRow(RowKind.EVIDENCE, Action.ADD, None, "Overall", "- new"),
    )


def test_a_row_is_of_the_kind_of_the_drafted_line_it_acts_on(tmp_path: Path) -> None:
    asked = ["1. Short.", "2. Score for the answer to the question:", "It would be 3 out of 5.", "- a"]
    rows = [["", "", "", "missing", "- new"], *keep(*asked), ["- elsewhere", "1", "", "", ""]]
    study = load_one(tmp_path, *rows, score=3.0)
    (draft,), (submission,) = study.runs[0].drafts, study.submissions
    # the added row stands first and the heading is dropped; neither moves the others' kinds
    assert draft.score == 3 and [row.text for row in draft.rows][:3] == [asked[0], asked[2], asked[3]]
    assert [(row.kind, row.draft_row) for row in submission.rows] == [
        (RowKind.EVIDENCE, None),
        (RowKind.CONCLUSION, 0),
        (RowKind.SCORE, 1),
        (RowKind.EVIDENCE, 2),
        (RowKind.EVIDENCE, 3),
    ]


@pytest.mark.parametrize(
    ("score", "kept", "note"),
    [
        (0, 0.0, "not whole points"),
        (4.5, 4.5, "not whole points"),
        ("3", 3.0, "final score differs"),  # the score row states 4
        (None, None, "without a readable final score"),
        ("four", None, "without a readable final score"),
        (True, None, "without a readable final score"),
    ],
)
def test_final_scores_stay_as_typed(tmp_path: Path, score: object, kept: float | None, note: str) -> None:
    study = load_one(tmp_path, *keep(*DRAFTED), score=score)
    assert study.submissions[0].score == kept
    assert any(note in line for line in study.notes)


@pytest.mark.parametrize("start", [0, None, "", "yesterday", 3.5])
def test_a_missing_start_leaves_the_time_open(tmp_path: Path, start: object) -> None:
    study = load_one(tmp_path, *keep(*DRAFTED), start_time=start)
    assert study.submissions[0].opened_at == "" and study.submissions[0].submitted_at
    assert any("without a start time" in note for note in study.notes)


def test_a_missing_criterion_is_no_submission(tmp_path: Path) -> None:
    both = {CLARITY: work(keep(*DRAFTED)), PLOT: work(keep(*DRAFTED))}
    files = {
        "A06": {"1": {**STORY, "criteria": both}},
        "A07": {"1": {**STORY, "criteria": {PLOT: work(keep(*DRAFTED))}}},
    }
    study = load_study(write_release(tmp_path, files), slug="roc")
    assert [(one.person, one.criterion) for one in study.submissions] == [
        ("A06", CLARITY),
        ("A06", PLOT),
        ("A07", PLOT),
    ]
    assert any("missing from a person's file: 1." in note for note in study.notes)


def test_the_draft_most_people_saw_is_taken(tmp_path: Path) -> None:
    seen = {"A06": [*DRAFTED, "- odd"], "A07": DRAFTED, "A08": DRAFTED}
    files = {person: one_instance(clarity=work(keep(*lines))) for person, lines in seen.items()}
    study = load_study(write_release(tmp_path, files), slug="roc")
    assert [row.text for row in study.runs[0].drafts[0].rows] == [DRAFTED[0], DRAFTED[1], DRAFTED[3]]
    # A06 approved a line that the draft does not hold: the action is kept, without a drafted line
    assert study.submissions[0].rows[3] == ScrutinyRow(RowKind.EVIDENCE, Action.APPROVE)
    assert any("the draft lacks" in note and note.endswith(": 1.") for note in study.notes)


@pytest.mark.parametrize("second", [["", "1", "", ""], ["", "", "too high", "2. Score: 3"]])
def test_a_line_that_stands_twice_has_its_first_action(tmp_path: Path, second: list[str]) -> None:
    twice = [*keep(*DRAFTED[:2]), [DRAFTED[1], *second], *keep(*DRAFTED[2:])]
    files = {
        "A06": one_instance(clarity=work(keep(*DRAFTED))),
        "A07": one_instance(clarity=work(keep(*DRAFTED))),
        "A08": one_instance(clarity=work(twice)),
    }
    study = load_study(write_release(tmp_path, files), slug="roc")
    for submission in study.submissions:
        assert [(row.draft_row, row.action) for row in submission.rows] == [
            (place, Action.APPROVE) for place in range(3)
        ]
    assert any("the first action was used: 1." in note for note in study.notes)


@pytest.mark.parametrize(
    ("line", "reason"),
    [("2. It is fine.", "states no score"), ("2. Score: 9", "9, is off the scale 1-5")],
)
def test_a_draft_without_a_score_on_the_scale_is_unscored(tmp_path: Path, line: str, reason: str) -> None:
    (draft,) = load_one(tmp_path, *keep("1. Clear.", line)).runs[0].drafts
    assert draft.score is None and reason in draft.reason


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("3. Evidence:", True),
        ("1. Evaluation of the response:", True),
        ("2. Score：", True),
        ("1. Conclusion:", True),
        ("3. Evidence from the answer to support the conclusion includes:", True),
        ("2. Score for the answer to the question：", True),
        ("2. Score for the answer: 4", False),
        ("2. Scores differ:", False),
        ("Evidence from the answer includes:", False),
        ("1. Evaluation of the response: It is polite.", False),
    ],
)
def test_headers(text: str, header: bool) -> None:
    assert is_header(text) is header


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("1. Good.\n\n2. I would assign a score of 4 to it.\n\n3. Evidence:", 4),
        ("Score: 3 out of 5. The 2 points", 3),
        ("2. Out of 5, I would say 4.5.", 4.5),
        ("2. It depends.\nScore: 2", 2),
        ("1. I give a score of 3 here.", 3),
        ("1. There are 7 points.", None),
        ("1. Short.\n\n2. Score for the answer:\nIts completeness would be 3 out of 5.\n\n3. Evidence:", 3),
        ("1. Short.\n2. Score for the answer:\nGiven this, 1 out of 5.\n- 2 of 7 steps are missing", 1),
        ("1. One step is 2/5, the other 3/5.", None),
        ("1. Clear.\n2. Nothing is missing.\n3. Evidence:", None),
    ],
)
def test_model_scores(text: str, score: float | None) -> None:
    assert read_model_score(text) == score


def test_times_with_a_zone_become_utc() -> None:
    assert read_time("2023-05-29T06:22:10+02:00") == "2023-05-29T04:22:10.000Z"
    assert read_time("0001-01-01T00:00:00+09:00") == ""


def test_a_row_without_any_mark_is_no_action() -> None:
    assert parse_line(["- a", "", "", "", ""]) == Line("- a", None)


REFUSALS = [
    ([1], "A06.json, person A06: is not a JSON object"),
    ({"1": 5}, "A06.json, instance 1: is not a JSON object"),
    ({"1": {"criteria": {}}}, "instance 1: needs an input, an output and 'criteria'"),
    ({"1": {**STORY, "criteria": []}}, "needs an input, an output and 'criteria'"),
    ({"1": {**STORY, "story": " ", "criteria": {}}}, "'story': is empty"),
    ({"1": {**STORY, "story": ["x"], "criteria": {}}}, "'story': is not a text"),
    ({"1": {**STORY, "story": "a\0", "criteria": {}}}, "'story': contains a NUL byte"),
    ({"1": {**STORY, "criteria": {CLARITY: work([["a", "1", ""]])}}}, "row 1: is not a row of five texts"),
    ({"1": {**STORY, "criteria": {CLARITY: work([[{}, "1", "", "", ""]])}}}, "row 1: is not a text"),
    ({"1": {**STORY, "criteria": {CLARITY: {"eval_result": "x"}}}}, "'eval_result' is not a list"),
    ({"1": {**STORY, "criteria": {"a": work([]), "a ": work([])}}}, "has criterion 'a' twice"),
]


@pytest.mark.parametrize(("content", "message"), REFUSALS)
def test_files_of_another_shape_are_refused(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        load_study(write_release(tmp_path, {"A06": content}), slug="roc")


def test_one_person_in_two_files_and_a_broken_combine_data_are_refused(tmp_path: Path) -> None:
    entry = one_instance(clarity=work(keep(*DRAFTED)))
    folder = write_release(tmp_path, {"A06": entry}, {"roc": {"target": "x"}})
    with pytest.raises(InputError, match="task roc: 'target' is not a list"):
        load_study(folder, slug="roc")
    (folder / "A07.json").write_text(json.dumps({"A06": entry}), encoding="utf-8")
    with pytest.raises(InputError, match=r"A07.json: contains A06, who is also in A06.json"):
        load_study(folder, slug="roc")


def test_a_file_for_each_person_comes_back_as_it_was(context: Context, tmp_path: Path) -> None:
    """Every action on drafted lines, an added line, the scores and the times of two people."""
    lines = ["1. It is clear.", "2. Score: 4", "“kite” is plain.", "“flew” is wrong."]
    acted = (
        [(lines[0], "1", "", "", ""), (lines[1], "", "", "too high", "2. Score: 3"), (lines[2], "", "1,no", "", ""),
         (lines[3], "", "", "other words", "“high” is plain."), ("", "", "", "missing", "It is short.")],
        [(line, "1", "", "", "") for line in lines],
    )  # fmt: skip
    (tmp_path / "first").mkdir()
    for number, rows in enumerate(acted, 1):
        record = {
            "final_score": 5 - 2 * (2 - number),
            "start_time": "2023-05-29 06:22:10",
            "end_time": "2023-05-29 06:24:10",
            "eval_result": rows,
        }
        texts = {"story requirement": "Write about a kite.", "story": "The kite flew high."}
        entry = {"7": {**texts, "criteria": {"1. Clarity: It is clear.": record}, "model": "turbo"}}
        path = tmp_path / "first" / f"A0{number}.json"
        path.write_text(json.dumps({f"person {number}": entry}), encoding="utf-8")
    import_file(context, OPERATOR, tmp_path / "first", "kite", ImportOptions())
    written = export_as(context, OPERATOR, "kite", "coeval-release", tmp_path / "second")
    assert [path.name for path in written] == ["A01.json", "A02.json"]
    before, after = (load_study(tmp_path / name, slug="kite") for name in ("first", "second"))
    assert before.submissions == after.submissions and before.instances == after.instances
    assert before.runs == after.runs and before.criteria == after.criteria
    assert [len(work.rows) for work in after.submissions] == [5, 4]
