"""What asks a model for this file: every call goes through its ledger."""

from __future__ import annotations

from coeval.llm.running import runner
from coeval.llm.running.ledger import Prices
from coeval.store.queries.drafting.calls import StoredLedger
from coeval.study.access import Context


def build_runner(
    context: Context,
    *,
    concurrency: int,
    prices: Prices | None = None,
    replay: bool = False,
    endpoint: str = "",
) -> runner.Runner:
    """The runner of this file's ledger; see ``coeval.llm.running.runner.build_runner``.

    Raises:
        ModelError: no model is set up.
    """
    return runner.build_runner(
        context.settings,
        StoredLedger(context.store),
        concurrency=concurrency,
        prices=prices,
        replay=replay,
        endpoint=endpoint,
    )
