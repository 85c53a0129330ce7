"""What asks a model for this file: every call goes through its ledger."""

from __future__ import annotations

from coeval.domain import Request
from coeval.errors import ModelError
from coeval.llm.client.client import Client, Exchange
from coeval.llm.running.ledger import Prices
from coeval.llm.running.runner import Runner, Sender
from coeval.store.queries.drafting.calls import StoredLedger
from coeval.study.access import Context


def build_runner(
    context: Context,
    *,
    concurrency: int,
    prices: Prices | None = None,
    replay: bool = False,
    endpoint: str = "",
) -> Runner:
    """The runner of this file's ledger; ``replay`` needs no model at all.

    A replay takes the answers of ``endpoint``, or of any where none is named.

    Raises:
        ModelError: no model is set up.
    """
    client: Sender = _NoNetwork(endpoint) if replay else Client(context.settings)
    return Runner(client, StoredLedger(context.store), concurrency=concurrency, prices=prices, replay=replay)


class _NoNetwork:
    """Stands where the client would, when everything is to come from the ledger."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    async def send(self, request: Request, answers: int = 1) -> Exchange:
        raise ModelError(
            f"A replay sends nothing to {request.model}: ask the model, or write a batch file (batch write)."
        )

    def takes_several(self, model: str) -> bool:
        return False

    async def close(self) -> None:
        """There is nothing to close."""
