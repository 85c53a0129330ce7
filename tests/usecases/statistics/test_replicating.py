"""Published studies computed anew: each cell beside what was printed, with a verdict, and what the files show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from coeval.cli.commands import main
from coeval.errors import InputError
from coeval.extensions.replication import cells as cells_module
from coeval.extensions.replication.cells import Cell, Replication, load_printed, load_published
from coeval.extensions.replication.closer_look import ROWS, replicate_closer_look
from coeval.extensions.replication.coeval_paper import replicate_coeval
from coeval.extensions.replication.fusion_eval import replicate_fusion_eval

STORY = {"story requirement": "Write about a kite.", "story": "The kite flew high."}


@pytest.fixture(scope="module")
def eli5(shared_data: Path) -> Replication:
    return replicate_coeval(shared_data / "coeval_release_eli5")


def cell(found: Replication, *place: str) -> Cell:
    return next(one for one in found.cells if one.place == place)


@pytest.mark.slow
def test_the_table_of_actions_stands_beside_what_was_printed(eli5: Replication, shared_data: Path) -> None:
    folder = shared_data / "coeval_release_eli5"
    actions = json.loads((folder / "reference_actions.json").read_text(encoding="utf-8"))["actions"]
    for kind, shares in actions.items():
        for action in ("approve", "revise", "delete", "add"):
            own = cell(eli5, "ELI5", "Table 6", kind, action)
            assert own.ours == pytest.approx(shares[action], abs=1e-12)
    # printed .2934, by the files .2932
    assert cell(eli5, "ELI5", "Table 6", "score", "revise").verdict == "equal"
    time = cell(eli5, "ELI5", "Table 7", "minutes a sample, with CoEval", "mean")
    assert time.printed == 4.13 and time.verdict.startswith("differs by +4.")


def test_pairing_by_place_is_shown_with_its_rows(eli5: Replication) -> None:
    (finding,) = (one for one in eli5.findings if one.name == "eli5_pairing")
    assert "10 pairs of people, 10 are affected" in finding.text
    row = finding.rows.set_index(["a", "b"]).loc[("A01", "A02")]
    # reference.json: .5047 of the same units; other orders in the files lower it
    assert row["nominal alpha, same unit"] == pytest.approx(0.50471248, abs=1e-6)
    assert row["nominal alpha, same place"] < 0.5 and row["other unit in the same place"] == 215


@pytest.mark.slow
def test_a_share_outside_its_parts_is_a_finding(tmp_path: Path) -> None:
    rows = [
        ["1. Clear.", "1", "", "", ""],
        ["2. Score: 4", "", "", "no", "2. Score: 3"],
        ["- a", "1", "", "", ""],
    ]
    work = {"final_score": 3, "start_time": 0, "end_time": "2023-05-30 00:00:10", "eval_result": rows}
    for person in ("A06", "A07"):
        entry = {"1": {**STORY, "criteria": {"1. Clarity": work}, "model": "turbo"}}
        (tmp_path / f"{person}.json").write_text(json.dumps({person: entry}), encoding="utf-8")
    found = replicate_coeval(tmp_path)
    overall = cell(found, "ROCStories", "Table 6", "overall", "approve")
    assert overall.ours == pytest.approx(2 / 3) and overall.printed == 0.9465
    # printed: .9465 of all lines approved, but at most .8970 of a kind of line; .0109 deleted lies between its parts
    shown = {one.name: one for one in found.findings if one.name.startswith("rocstories_overall")}
    assert list(shown) == ["rocstories_overall_approve", "rocstories_overall_revise"]
    rows = shown["rocstories_overall_approve"].rows
    assert rows["printed"].tolist() == [0.9465, 0.8970, 0.8587, 0.8487]
    assert rows["ours"].tolist() == pytest.approx([2 / 3, 1, 0, 1])


def test_correlations_are_those_of_the_reference(shared_data: Path) -> None:
    folder = shared_data / "topical_chat"
    found = replicate_closer_look(folder)
    reference = json.loads((folder / "reference.json").read_text(encoding="utf-8"))["correlations"]
    names = {
        "pearson_m1": "Pearson's r, dataset",
        "spearman_m1": "Spearman's rho, dataset",
        "kendall_b_m1": "tau-b, dataset",
        "kendall_m2": "tau-b, document",
    }
    for key, values in reference.items():
        criterion, mode = key.split("/")
        for name, column in names.items():
            own = cell(found, "Topical-Chat", "Table 2", ROWS[mode], f"{criterion}, {column}")
            assert own.ours == pytest.approx(values[name], abs=1e-7), (key, name)
    (finding,) = (one for one in found.findings if one.name == "tau")
    # the printed tau-b of rate-explain in Table 2 is that of analyze-rate; the files give the value of Table 4
    own = finding.rows.set_index(["row", "column"]).loc[("rate-explain", "coherence, tau-b, document")]
    assert (own["Table 2"], own["Table 4"]) == (0.416, 0.425) and own["ours"] == pytest.approx(
        0.425, abs=0.006
    )


def test_released_answers_are_read_as_people_read_them(shared_data: Path, tmp_path: Path) -> None:
    answers = (shared_data / "rating_outputs.jsonl").read_text(encoding="utf-8").splitlines()
    for path in (shared_data / "topical_chat").glob("*.csv"):
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "rating_outputs.jsonl").write_text("\n".join(answers), encoding="utf-8")
    found = replicate_closer_look(tmp_path)
    assert "150 of 150 released answers are read as their recorded rating." in found.notes
    # a line separator of Unicode does not end a line of JSON
    other = json.loads(answers[0])
    other |= {"rating": 3, "text": f"Rated:\u2028{other['text']}"}
    wrong = json.dumps(other, ensure_ascii=False)
    (tmp_path / "rating_outputs.jsonl").write_text("\n".join([wrong, *answers[1:]]), encoding="utf-8")
    found = replicate_closer_look(tmp_path)
    (finding,) = (one for one in found.findings if one.name == "readings")
    assert finding.rows.to_dict("records") == [{"id": 0, "recorded": 3, "ours": 2.0}]
    assert "149 of 150 released answers are read as their recorded rating." in found.notes


def test_the_authors_repository_is_read_as_it_is(tmp_path: Path) -> None:
    """Two documents of three responses in the authors' format; ratings that rank as people do, in different words."""
    items = [
        {
            "source": f"d{n // 3}",
            "system_id": f"s{n % 3}",
            "scores": {"fluency": score},
            "all_responses": [f"Rating: {score}", f"- Fluency: {score}", "I cannot say."],
        }
        for n, score in enumerate([1, 2, 5, 2, 3, 4])
    ]
    turned = [{**item, "all_responses": [str(6 - item["scores"]["fluency"])]} for item in items]  # type: ignore[index]
    folder = tmp_path / "results" / "summeval"
    for name, answers in (
        ("flu_new_rate_explain.json", items),
        ("flu_new_geval.json", turned),
        ("flu_geval.json", turned),
        ("flu_new_geval_no_auto_cot_0.3.json", items),
        ("flu_new_rate_explain_1.0_hhh_prompt.json", items),
    ):
        path = folder / ("prompt" if "prompt" in name else "") / f"gpt3.5_{name}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(answers), encoding="utf-8")
    found = replicate_closer_look(tmp_path)
    r = "fluency, Pearson's r, dataset"
    own = cell(found, "SummEval", "Table 1", "rate-explain", r)
    assert own.ours == pytest.approx(1) and own.printed == 0.451 and own.verdict == "differs by +0.549"
    assert cell(found, "SummEval", "Table 1", "auto-CoT, score only", r).ours == pytest.approx(-1)
    assert cell(found, "SummEval", "Table 5", "temperature 1.0, rate-explain", r).ours == pytest.approx(1)
    low = cell(found, "SummEval", "Table 5", "temperature 0.3, auto-CoT, score only", r)
    assert low.ours == pytest.approx(1) and "the file's name says that there is none" in low.reason
    assert cell(found, "SummEval", "Table 6", "hhh prompt, rate-explain", r).ours == pytest.approx(1)
    assert [one.row for one in found.cells if one.table == "Williams' test"] == [
        "auto-CoT, score only and rate-explain"
    ]
    (folder / "gpt3.5_flu_new_geval.json").write_text("[{}]", encoding="utf-8")
    with pytest.raises(InputError, match="gpt3.5_flu_new_geval.json is not a file of answers"):
        replicate_closer_look(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("study,table\nS,T\n", "needs a header row"),
        ("", "needs a header row"),
        ("study,table,row,column,printed\nS,T,a,x,one\n", "line 2: 'one' is not a number"),
        ("study,table,row,column,printed\nS,T,a,x,1\nS,T,a,x,2\n", "line 3: repeats T, a, x"),
    ],
)
def test_a_broken_file_of_printed_values_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "printed.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load_printed(path)


def test_the_command_writes_files_and_needs_no_study(
    tmp_path: Path, shared_data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COEVAL_DB", str(tmp_path / "none" / "study.db"))
    main(
        [
            "replicate",
            "closer-look",
            "--data",
            str(shared_data / "topical_chat"),
            "--out",
            str(tmp_path / "o"),
        ]
    )
    assert "computed cells have a printed value" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()
    cells = pd.read_csv(tmp_path / "o" / "cells.csv")
    assert len(cells) > 126 and {"equal", "printed value not at hand", "not released"} < set(cells["verdict"])
    with pytest.raises(SystemExit):
        main(["replicate", "coeval", "--data", str(tmp_path / "o"), "--out", str(tmp_path / "p")])
    assert "contains no A*.json" in capsys.readouterr().err


HELP = Path(cells_module.__file__).with_name("replicate.md").read_text(encoding="utf-8")


def test_what_the_help_says_of_coevals_table_6_is_in_the_cells(eli5: Replication) -> None:
    """The public data here has one of three studies; the printed shares of all three are in the package."""
    of_help = re.search(r"ELI5 (\d+) of (\d+)", HELP)
    table = [one for one in eli5.cells if (one.study, one.table) == ("ELI5", "Table 6")]
    assert of_help and (int(of_help[1]), int(of_help[2])) == (
        [one.verdict for one in table].count("equal"),
        len(table),
    )
    totals = [int(n) for n in re.findall(r"(?:ELI5|Self-Instruct|ROCStories) (\d+) of 16", HELP)]
    assert f"{sum(totals)} of its 48 cells" in HELP and len(totals) == 3
    printed = load_published("coeval")
    outside = []
    for action in ("approve", "revise", "delete", "add"):
        parts = [
            printed["ROCStories", "Table 6", kind, action] for kind in ("conclusion", "score", "evidence")
        ]
        if not min(parts) <= printed["ROCStories", "Table 6", "overall", action] <= max(parts):
            outside.append(action)
    assert (
        outside == ["approve", "revise"] and "shares approved and revised in ROCStories lie outside" in HELP
    )


def test_fusion_eval_is_compared_with_runs_of_ones_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"criterion": "overall", "judge": judge, "level": level, "n": 360, "pearson": 0.5, "spearman": rho,
         "kendall": 0.4, "reason": ""}
        for judge, rho in (("fused run", 0.741), ("BLEURT", 0.3))
        for level in ("dataset", "document", "system")
    ]  # fmt: skip
    (tmp_path / "topical_chat.json").write_text(json.dumps({"fused_people": rows}), encoding="utf-8")
    main(["replicate", "fusion-eval", "--data", str(tmp_path), "--out", str(tmp_path / "out")])
    assert "1 of 2 computed cells has a printed value: 1 equal, 0 differ." in capsys.readouterr().out
    cells = pd.read_csv(tmp_path / "out" / "cells.csv").set_index("row")
    assert cells.loc["fused run", "verdict"].tolist() == ["equal", "not released"]
    assert cells.loc["BLEURT", "ours"] == 0.3
    (tmp_path / "topical_chat.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="is not the output"):
        replicate_fusion_eval(tmp_path)
    with pytest.raises(InputError, match="has no summeval.json or topical_chat.json"):
        replicate_fusion_eval(tmp_path / "out")
