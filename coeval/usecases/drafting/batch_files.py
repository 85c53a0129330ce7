"""Pre-fills with batch files: write requests, read results, and turn them into drafts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from coeval.domain import Answer, Job, JobState, Person, Request
from coeval.errors import InputError, ModelError, NotFoundError, UnansweredError
from coeval.llm.running.batch_files import ENDPOINT, BatchWriter, Results, write_batch
from coeval.llm.running.ledger import Prices
from coeval.store.queries import drafts, jobs
from coeval.store.queries.calls import StoredLedger
from coeval.usecases.access import OWNERS, Context, use_case
from coeval.usecases.drafting.execution import RunReport, run_drafting
from coeval.usecases.drafting.model_requests import SAMPLES_PER_ATTEMPT, build_runner, write_plan, write_steps
from coeval.usecases.drafting.preparation import (
    Prepared,
    needs_plan,
    prepare_run,
    questions_of,
    require_ready,
)
from coeval.usecases.drafting.run_settings import RunSettings, read_run_settings


@dataclass(slots=True)
class ResultsReport(Results):
    """The outcome of reading result files: the saved answers, and the drafts that waited for them."""

    runs: list[RunReport] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """The reasons why waiting batches could not become drafts; they still wait."""

    def __str__(self) -> str:
        return "\n".join([Results.__str__(self), *map(str, self.runs), *self.refused])


@dataclass(frozen=True, slots=True)
class Written:
    """The written files. ``helps`` means that they request steps or a plan, which are needed first."""

    batch: BatchWriter
    helps: bool = False

    @property
    def written(self) -> int:
        return self.batch.written

    def __str__(self) -> str:
        said = f"{self.written:,} questions"
        if self.helps:
            said += (
                " for evaluation steps or the plan: read their results (batch read), then give the same command again "
                "with another --out for the questions of the run"
            )
        return said


@use_case(OWNERS)
async def write_questions(
    context: Context, person: Person, slug: str, settings: RunSettings, out: Path
) -> Written:
    """Write the open requests of a run to batch files, split at the service's limits.

    If the run lacks evaluation steps or a plan, only the requests for these are written. After their results
    are read, the same call writes the requests of the run.

    Raises:
        InputError: a file with that name exists, or see ``prepare_run``.
    """
    settings = replace(settings, endpoint=ENDPOINT).complete(context.settings)
    settings, first = await _write_helps(context, slug, settings)
    if first:
        return Written(write_batch(first, out, ledger=StoredLedger(context.store)), helps=True)
    prepared = prepare_run(context, person, slug, settings)
    writer = write_batch(_questions(context, prepared), out, ledger=StoredLedger(context.store))
    with context.store.write() as db:
        params = {"slug": slug, "settings": settings.to_params()}
        jobs.add_job(
            db,
            Job(
                jobs.BATCH,
                prepared.task.id,
                JobState.QUEUED,
                params,
                total=len(prepared.items),
                message=f"{prepared.run.label}: {writer.written:,} questions written to {out.name}",
                created_by=person.name,
            ),
        )
    return Written(writer)


async def _write_helps(
    context: Context, slug: str, settings: RunSettings
) -> tuple[RunSettings, list[tuple[Request, int]]]:
    """Return the settings with the steps and plan from results, and the requests for missing ones."""
    with context.store.read() as db:
        task, current = require_ready(db, slug)
        opened = drafts.get_run(db, task.id, settings.label) is not None
    missing: list[tuple[Request, int]] = []
    async with build_runner(context, concurrency=1, replay=True, endpoint=ENDPOINT) as runner:

        async def ask(request: Request, sample: int) -> Answer:
            try:
                return await runner.ask(request, sample)
            except UnansweredError:
                missing.append((request, sample))
                raise

        for criterion in current.criteria if settings.steps else ():
            with suppress(ModelError):
                await write_steps(context, task, replace(current, criteria=(criterion,)), settings, ask)
        if needs_plan(settings) and not opened:
            with suppress(ModelError):
                settings = replace(settings, plan=await write_plan(context, task, current, settings, ask))
    return settings, missing


def _questions(context: Context, prepared: Prepared) -> Iterator[tuple[Request, int]]:
    next_attempt = drafts.next_comparison_attempt if prepared.protocol.compares else drafts.next_attempt
    for item in prepared.items:
        asked = questions_of(context, prepared.beside, item)
        with context.store.read() as db:
            attempts = [next_attempt(db, prepared.run.id, item.instance, number) for number in item.criteria]
        first = (max(attempts) - 1) * SAMPLES_PER_ATTEMPT
        yield from ((request, first + sample) for request, sample in asked)


@use_case(OWNERS)
async def read_results(
    context: Context, person: Person, paths: Sequence[Path], prices: Prices
) -> ResultsReport:
    """Save the answers in files to the ledger, then make the drafts that waited for them.

    If answers are still missing, the batch stays open: read the other files, or write a new one.

    Raises:
        InputError: a file cannot be opened; answers from earlier files are kept.
    """
    report = ResultsReport()
    report.keep(paths, StoredLedger(context.store), prices)
    with context.store.read() as db:
        waiting = list(jobs.list_waiting(db, jobs.BATCH))
    for job in waiting:
        try:
            report.runs.append(await _draft(context, person, job))
        except (InputError, ModelError, NotFoundError) as error:
            report.refused.append(f"{job.label}: {error}")
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
