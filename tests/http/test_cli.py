"""The commands, run as a user runs them; the released study gives its published reference."""

from __future__ import annotations

import contextlib
import io
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import krippendorff
import pytest

from coeval.cli.commands import main
from coeval.cli.files import read_mapping
from coeval.cli.serve import check_address
from coeval.errors import InputError
from tests.support.models.openai_stub import Reply, start_stub

ROOT = Path(__file__).resolve().parents[2]


class Done(NamedTuple):
    """How a command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object, db: Path, code: int = 0, process: bool = False, **env: str) -> Done:
    """A command in this process, or as a ``process`` of its own, which takes seconds to start."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "COEVAL_"))}
    words = [*map(str, arguments), "--db", str(db)]
    done = _start(words, kept | env) if process else _call(words, kept | env)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def _start(words: list[str], env: dict[str, str]) -> Done:
    command = [sys.executable, "-m", "coeval", *words]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300)
    return Done(done.returncode, done.stdout, done.stderr)


def _call(words: list[str], env: dict[str, str]) -> Done:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code = 0
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, env, clear=True))
        stack.enter_context(contextlib.chdir(ROOT))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        try:
            main(words)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            if isinstance(end.code, str):
                print(end.code, file=err)
    return Done(code, *(pipe.buffer.getvalue().decode() for pipe in (out, err)))  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def eli5(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the released ELI5 study in it."""
    folder = shared_data / "coeval_release_eli5"
    if not folder.is_dir():
        pytest.skip("the released ELI5 study (coeval_release_eli5) is not here")
    db = tmp_path_factory.mktemp("eli5") / "eli5.db"
    assert "5,000 scores by 5 people" in run("import", folder, "--task", "eli5", db=db).stdout
    return db


@pytest.fixture(scope="module")
def report(eli5: Path) -> dict:
    return json.loads(run("stats", "--task", "eli5", "--json", db=eli5).stdout)


@pytest.fixture(scope="module")
def reference(shared_data: Path, eli5: Path) -> dict:
    return json.loads((shared_data / "coeval_release_eli5" / "reference.json").read_text())


def near(value: object) -> object:
    return pytest.approx(value, abs=1e-6)


def test_a_small_release_goes_from_its_files_to_statistics_and_tables(tmp_path: Path) -> None:
    """Three people, four stories, one criterion: each approves the conclusion and half revise the score of 4."""
    for number, scores in enumerate([(4, 4, 3, 2), (4, 4, 3, 1), (4, 5, 3, 2)], start=6):
        stories = {}
        for n, score in enumerate(scores, start=1):
            kept = score == 4
            rows = [
                ["1. It is clear.", "1", "", "", ""],
                ["2. Score: 4", "1", "", "", ""]
                if kept
                else ["2. Score: 4", "", "", "no", f"2. Score: {score}"],
                ["3. Evidence:", "1", "", "", ""],
                ["- It flew.", "", "1", "not declared", ""] if n == 4 else ["- It flew.", "1", "", "", ""],
            ]
            work = {
                "final_score": score,
                "start_time": "2023-05-29 10:00:00",
                "end_time": "2023-05-29 10:01:30",
            }
            stories[str(n)] = {
                "story requirement": f"Kite {n}",
                "story": "It flew.",
                "criteria": {"1. Clarity": work | {"eval_result": rows}},
                "model": ("turbo", "davinci")[n % 2],
            }
        (tmp_path / f"A0{number}.json").write_text(json.dumps({f"A0{number}": stories}), encoding="utf-8")
    db = tmp_path / "coeval.db"
    assert "12 scores by 3 people" in run("import", tmp_path, "--task", "roc", db=db).stdout
    assert "nothing new" in run("import", tmp_path, "--task", "roc", db=db).stdout
    report = json.loads(run("stats", "--task", "roc", "--json", db=db).stdout)
    assert (report["annotators"], report["units"]) == (3, 4)
    # 5 of 12 scores are still the drafted 4; the heading of the evidence is no line
    shares = {kind: report["actions"][kind] for kind in ("conclusion", "score", "evidence")}
    assert shares["conclusion"]["approve"] == 1 and shares["score"]["approve"] == near(5 / 12)
    assert (shares["evidence"]["delete"], shares["evidence"]["approve"]) == (near(3 / 12), near(9 / 12))
    assert (report["score_change"]["lowered"], report["score_change"]["raised"]) == (6, 1)
    ratings = [[4, 4, 3, 2], [4, 4, 3, 1], [4, 5, 3, 2]]
    alpha = krippendorff.alpha(ratings, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5])
    assert report["agreement"]["humans"]["ordinal"] == near(alpha)
    assert report["time"]["per_criterion"][0]["mean_seconds"] == near(90)
    replicated = tmp_path / "replicated"
    main(["replicate", "coeval", "--data", str(tmp_path), "--out", str(replicated)])
    assert "ROCStories" in (replicated / "replication.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_eli5_alphas(report: dict, reference: dict) -> None:
    assert report["agreement"]["humans"] == near(reference["alpha_humans"])
    assert report["agreement"]["humans_and_llm"] == near(reference["alpha_humans_plus_llm"])
    assert (report["annotators"], report["units"]) == (5, 1000)


@pytest.mark.slow
def test_eli5_pairwise_alphas(report: dict, reference: dict) -> None:
    pairs = report["agreement"]["pairwise"]
    assert len(pairs) == 15  # 5 people and the model: 6 x 5 / 2
    for pair in pairs:
        a, b = sorted((pair["a"], pair["b"]))
        for level in ("nominal", "ordinal", "interval"):
            people = reference["alpha_pairwise_humans"][level]
            model = reference["alpha_llm_vs"][level]
            assert pair[level] == near(model[a] if b == "llm" else people[f"{a}|{b}"])


def test_mapping(tmp_path: Path) -> None:
    path, db = tmp_path / "mapped.csv", tmp_path / "c.db"
    path.write_text("question,answer,mood\nQ,A,calm\n")
    assert "map" in run("import", path, "--task", "t", db=db, code=1).stderr
    done = run("import", path, "--task", "t", "--map", "input=question", "output=answer", db=db, process=True)
    assert "added 1 instance" in done.stdout
    assert read_mapping(["input=question"]) == {"input": "question"}
    for wrong in (["input"], ["=x"], ["a=b", "a=c"]):
        with pytest.raises(InputError, match="field=column"):
            read_mapping(wrong)


@pytest.mark.slow
def test_stats_without_an_option_are_a_table_to_read(eli5: Path) -> None:
    report = json.loads(run("stats", "--task", "eli5", "--json", db=eli5).stdout)
    printed = run("stats", "--task", "eli5", db=eli5).stdout.splitlines()
    for part in report["agreement"]["per_criterion"]:
        (row,) = [line for line in printed if line.startswith(f"| {part['criterion']} |")]
        assert f"{part['humans']['ordinal']:.3f}" in row and str(part["n_ratings"]) in row.replace(",", "")
    assert "All numbers: stats --json" in printed[-1]


def test_only_this_machine_is_served_without_a_real_sign_in() -> None:
    for host in ("127.0.0.1", "::1", "localhost"):
        check_address(host)
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(InputError, match="only a name"):
            check_address(host)


def test_a_run_that_waits_prints_a_line_also_into_a_file(tmp_path: Path) -> None:
    db = tmp_path / "waits.db"
    (tmp_path / "in.csv").write_text("id,input,output\n1,Why?,One.\n", encoding="utf-8")
    (tmp_path / "criteria.txt").write_text("It is clear.\n", encoding="utf-8")
    run("import", tmp_path / "in.csv", "--task", "t", "--description", "Answer the question.", db=db)
    run("criteria", "establish", "--task", "t", "--file", tmp_path / "criteria.txt", db=db)
    with start_stub() as stub:
        stub.script(Reply(status=429, message="slow down", headers={"retry-after": "2"}))
        env = {"OPENAI_BASE_URL": stub.url, "COEVAL_MODEL": "m"}
        done = run("draft", "evaluations", "--task", "t", db=db, **env)
    assert done.stderr.count("waiting until") == 1 and "the endpoint asks for fewer requests" in done.stderr


@pytest.mark.slow
def test_invite_prints_the_address_of_the_server_of_this_file(tmp_path: Path) -> None:
    db = tmp_path / "coeval.db"
    early = run("invite", db=db)
    assert "no server has recorded an address for this file yet" in early.stderr
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "app.py", "--db", str(db), "--port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert server.stdout and f":{port}" in server.stdout.readline()
        beside = run("invite", db=db)
        assert (
            beside.stdout.startswith(f"http://127.0.0.1:{port}/invite/") and beside.stderr.count("note") == 1
        )
        stated = run("invite", db=db, COEVAL_URL="https://study.example")
        assert stated.stdout.startswith("https://study.example/invite/")
    finally:
        server.terminate()
        server.wait(30)
