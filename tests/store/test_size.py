"""Large files: batches that are one import, memory that does not grow, and the benchmark itself, kept small."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coeval.datasets.source import Seen
from coeval.domain import ImportedSubmission, Person, Study
from coeval.errors import InputError
from coeval.safe_csv import SUSPECT, restore, safe
from coeval.store.queries import submissions, tasks
from coeval.usecases.access import Context
from coeval.usecases.study_import import ImportOptions, import_file, import_study
from tests.benchmarks.parts.large import write_instances, write_ratings
from tests.benchmarks.parts.size_run import coeval

ROWS = 1_200
"""More than two batches of 500."""


def count(context: Context, slug: str = "large") -> int:
    with context.store.read() as db:
        task = tasks.get_task(db, slug)
        return tasks.count_instances(db, task.id) if task else 0


@pytest.mark.slow
@given(st.lists(st.text(max_size=2)), st.lists(st.text(max_size=2)))
def test_seen_tells_what_is_repeated_and_what_is_beyond(one: list[str], other: list[str]) -> None:
    assert Seen(one).repeated() == {hash(key) for key, n in Counter(one).items() if n > 1}
    assert Seen(one).beyond(Seen(other)) == set(map(hash, one)) - set(map(hash, other))


RUN_AS_FORMULA = set("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
PASSED_OVER = " \ufeff\u00a0\u200b\u2060"


@given(
    st.text(alphabet=st.sampled_from([*RUN_AS_FORMULA, *PASSED_OVER, "a", "1", "\u00e9", "'"]), max_size=4)
)
def test_a_text_that_a_spreadsheet_would_run_gets_an_apostrophe_and_comes_back(text: str) -> None:
    first = text.lstrip(PASSED_OVER)[:1]
    assert safe(text) == ("'" + text if first in RUN_AS_FORMULA or text[:1] == "'" else text)
    assert restore(safe(text)) == text
    # the fast path of bulk exports looks at the first character alone
    assert safe(text) == text or text[0] in SUSPECT


def test_an_id_repeated_in_a_later_batch_is_refused_with_both_lines(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    path = write_instances(tmp_path / "a.csv", ROWS)
    with path.open("a", encoding="utf-8") as file:
        file.write("x7,A question?,An answer.,a\n")
    # the header is line 1, so x0 is line 2 and x7 line 9; x1199 is line 1201
    with pytest.raises(InputError, match="lines 9 and 1202 have the same instance id 'x7'"):
        import_file(context, owner, path, "large")
    assert count(context) == 0


def test_a_fault_in_the_last_batch_leaves_nothing_of_the_first(
    context: Context, owner: Person, tmp_path: Path
) -> None:
    last = write_instances(tmp_path / "last.csv", ROWS).read_text(encoding="utf-8").splitlines()[-1]
    (tmp_path / "one.csv").write_text(f"instance,input,output,system\n{last}\n", encoding="utf-8")
    import_file(context, owner, tmp_path / "one.csv", "large")
    (tmp_path / "all.csv").write_text(
        (tmp_path / "last.csv").read_text(encoding="utf-8").replace(last, last + "c"), encoding="utf-8"
    )
    with pytest.raises(InputError, match="“x1199” already exists in the task with another system"):
        import_file(context, owner, tmp_path / "all.csv", "large")
    assert count(context) == 1


def test_ratings_of_many_batches_are_kept_once(context: Context, owner: Person, tmp_path: Path) -> None:
    import_file(context, owner, write_instances(tmp_path / "instances.csv", 150), "large")
    path = write_ratings(tmp_path / "ratings.csv", 150, ROWS)
    first = import_file(context, owner, path, "large", ImportOptions(format="ratings-csv"))
    # 1,200 ratings of 150 x 2 pairs: four people rate each
    assert (first.submissions, first.people) == (ROWS, 4)
    again = import_file(context, owner, path, "large", ImportOptions(format="ratings-csv"))
    assert (again.submissions, again.unchanged, again.changed) == (0, ROWS, False)


def test_another_score_of_the_same_rater_is_a_further_revision(
    context: Context, owner: Person, study: Study
) -> None:
    text = study.criteria[0].text
    given = tuple(ImportedSubmission("Ann", "1a", text, score) for score in (2.0, 4.0))
    import_study(context, owner, replace(study, submissions=given))
    with context.store.read() as db:
        instance = tasks.get_instance_ids(db, 1, ["1a"])["1a"]
        history = submissions.list_history(db, owner.id + 1, instance, 1, 9, 9)
    assert [(one.revision, one.score) for one in history] == [(1, 2.0), (2, 4.0)]


def test_a_run_is_the_same_run_or_refused(context: Context, owner: Person, study: Study) -> None:
    import_study(context, owner, study)
    (run,) = study.runs
    again = import_study(context, owner, replace(study, runs=(replace(run, drafts=run.drafts[::-1]),)))
    assert again.drafts == 0 and again.unchanged == len(study.instances) + len(run.drafts)
    other = replace(run.drafts[-1], score=5.0)
    for drafts in ((*run.drafts[:-1], other), run.drafts[:-1], ()):
        with pytest.raises(InputError, match="has a run “first” with other drafts already"):
            import_study(context, owner, replace(study, runs=(replace(run, drafts=drafts),)))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    few, many = (
        coeval("import", write_instances(tmp_path / f"{n}.csv", n), "--task", "t", db=tmp_path / f"{n}.db")
        for n in (1_000, 20_000)
    )
    assert many.peak_mb < 1.1 * few.peak_mb
