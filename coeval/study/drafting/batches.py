"""Pre-fills that leave this machine: questions out as batch files, results in, drafts made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from coeval.domain import Call, Job, JobState, Person, Request
from coeval.llm.running.batch_files import ENDPOINT, BatchWriter, write_batch
from coeval.llm.running.batch_results import BadLine, read_batch
from coeval.llm.running.ledger import Prices
from coeval.store.engines.statements import chunks
from coeval.store.queries.drafting import drafts, jobs
from coeval.store.queries.drafting.calls import StoredLedger
from coeval.study.access import OWNERS, Context, use_case
from coeval.study.drafting.execution import SAMPLES_PER_ATTEMPT, RunReport, run_drafting
from coeval.study.drafting.preparing import Prepared, prepare_run, questions_of
from coeval.study.drafting.run_settings import RunSettings, read_run_settings

KIND = "batch"


@dataclass(slots=True)
class ResultsReport:
    """What a file of results came to: answers kept, failures kept with their reason, and the drafts made."""

    answered: int = 0
    failed: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)
    runs: list[RunReport] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"{self.answered:,} answers kept, {self.failed:,} failed, {len(self.bad_lines):,} lines unreadable"
        ]
        return "\n".join([*lines, *map(str, self.runs)])


@use_case(OWNERS)
async def write_questions(
    context: Context, person: Person, slug: str, settings: RunSettings, out: Path
) -> BatchWriter:
    """Write the questions that a run still has to a batch file, split at the service's limits.

    Raises:
        InputError: a file of that name is there already, or see ``prepare_run``.
    """
    settings = replace(settings, endpoint=ENDPOINT).complete(context.settings)
    prepared = prepare_run(context, person, slug, settings)
    writer = write_batch(_questions(context, prepared), out, ledger=StoredLedger(context.store))
    with context.store.write() as db:
        params = {"slug": slug, "settings": settings.to_params()}
        jobs.add_job(
            db,
            Job(
                KIND,
                prepared.task.id,
                JobState.QUEUED,
                params,
                total=len(prepared.items),
                message=f"{prepared.run.label}: {writer.written:,} questions written to {out.name}",
                created_by=person.name,
            ),
        )
    return writer


def _questions(context: Context, prepared: Prepared) -> Iterator[tuple[Request, int]]:
    for item in prepared.items:
        with context.store.read() as db:
            asked = questions_of(db, prepared.protocol, item)
            attempts = [
                drafts.next_attempt(db, prepared.run.id, item.instance, number) for number in item.criteria
            ]
        first = (max(attempts) - 1) * SAMPLES_PER_ATTEMPT
        yield from ((request, first + sample) for request, sample in asked)


@use_case(OWNERS)
async def read_results(context: Context, person: Person, path: Path, prices: Prices) -> ResultsReport:
    """Keep a file's answers in the ledger, then make the drafts that were waiting for them.

    What is still missing afterwards keeps its batch open: read the other files, or write a new one.

    Raises:
        InputError: the file cannot be opened.
    """
    report, ledger = ResultsReport(), StoredLedger(context.store)
    for batch in chunks(read_batch(path, prices=prices)):
        calls = [line for line in batch if isinstance(line, Call)]
        ledger.record_calls(calls)
        report.answered += sum(not call.error for call in calls)
        report.failed += sum(bool(call.error) for call in calls)
        report.bad_lines += [line for line in batch if isinstance(line, BadLine)]
    with context.store.read() as db:
        waiting = list(jobs.list_waiting(db, KIND))
    for job in waiting:
        report.runs.append(await _draft(context, person, job))
    return report


async def _draft(context: Context, person: Person, job: Job) -> RunReport:
    settings = replace(read_run_settings(job.params), replay=True, endpoint=ENDPOINT)
    report = await run_drafting(context, person, str(job.params["slug"]), settings)
    with context.store.write() as db:
        state = JobState.DONE if report.complete else JobState.QUEUED
        jobs.update_job(
            db, job.id, state=state, done=job.done + report.done, failed=report.failed, message=str(report)
        )
    return report
