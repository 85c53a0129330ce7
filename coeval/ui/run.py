"""Run the server until it is asked to stop, and end cleanly."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from types import FrameType

import uvicorn

from coeval.errors import InputError
from coeval.settings import Settings
from coeval.study.access import Context
from coeval.study.drafting.worker import get_worker
from coeval.study.hosting.leftovers import sweep
from coeval.study.hosting.opening import open_kept
from coeval.study.importing.demo import ensure_demo
from coeval.study.statistics import compute_apart
from coeval.ui.app import build_app
from coeval.ui.health import Draining
from coeval.ui.server.connections import build_protocol
from coeval.ui.server.logs import ShortLines
from coeval.ui.standby import Standby


def run_server(
    settings: Settings,
    host: str,
    port: int,
    *,
    start_empty: bool = False,
    when_built: Callable[[], None] = lambda: None,
) -> None:
    """Serve CoEval on an address until interrupted; ``when_built`` is called before the first visitor is let in.

    ``start_empty`` begins a new study where there is no file, whatever the places of snapshots hold.

    Raises:
        InputError: the port is taken.
        StorageError: the file cannot be opened, or a place of snapshots cannot be read.
    """
    _check_free(host, port)
    # what is written from here on, the database and its copies first of all, is nobody else's to read
    os.umask(0o077)
    sys.stderr = ShortLines(sys.stderr)
    settings = replace(settings, host=host, port=port)
    with Standby(host, port) as standby:
        store, keeper = open_kept(settings, start_empty=start_empty, on_wait=standby.say)
    context = Context(store, settings)
    sweep(context)
    ensure_demo(context)
    shown = f"[{host}]" if ":" in host else host
    print(f"CoEval is at http://{shown}:{port}  ({context.store.shown_address}; Ctrl+C stops it)", flush=True)
    if keeper:
        keeper.start()
    # once the requests under way are answered, uvicorn sends itself the signal again: SIGTERM's own way would
    # end the process there and then, before the last snapshot
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    readings = compute_apart(context)
    draining, worker = Draining(), get_worker(context)
    config = _config(context, host, port, draining)
    when_built()
    if settings.server:
        worker.follow()
    try:
        _Server(config, draining, settings.drain_seconds).run()
    except KeyboardInterrupt:
        pass
    finally:
        worker.stop()
        if keeper:
            keeper.stop()
        readings.close()
        store.close()


class _Server(uvicorn.Server):
    """A server that goes on answering for so many seconds after SIGTERM, so that the balancer hears of it first."""

    def __init__(self, config: uvicorn.Config, draining: Draining, seconds: float) -> None:
        super().__init__(config)
        self.draining, self.seconds = draining, seconds

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        begun, self.draining.begun = self.draining.begun, True
        if begun or sig == signal.SIGINT or not self.seconds:
            super().handle_exit(sig, frame)
            return
        stop = threading.Timer(self.seconds, super().handle_exit, (sig, frame))
        stop.daemon = True
        stop.start()


def _config(context: Context, host: str, port: int, draining: Draining) -> uvicorn.Config:
    proxies = list(context.settings.proxies)
    return uvicorn.Config(
        build_app(context, draining),
        host=host,
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=10,
        # longer than people take over one evaluation, so that a confirm finds its connection open
        timeout_keep_alive=75,
        forwarded_allow_ips=proxies,
        http=build_protocol(proxies),
        server_header=False,
    )


def _check_free(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise InputError(
                f"Port {port} on {host} cannot be used ({error.strerror}): choose another with --port."
            ) from error
