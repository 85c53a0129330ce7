"""The texts of “Several servers” are ones that can be used: YAML that is read, variables and addresses that exist."""

from __future__ import annotations

import re

import yaml

from coeval.settings import PACKAGE, load_settings
from coeval.ui.run import DRAIN_SECONDS
from coeval.ui.server.guard import HEALTH
from coeval.ui.server.identity import STICKY
from coeval.ui.server.plain_pages import HELP

TEXT = (HELP / "deploy.md").read_text(encoding="utf-8")


def read_blocks(text: str) -> list[str]:
    """What stands between fences."""
    return re.findall(r"^```\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def test_compose_and_kubernetes_texts_are_read() -> None:
    blocks = read_blocks(TEXT)
    (compose,) = [yaml.safe_load(block) for block in blocks if block.startswith("x-coeval")]
    servers = [one for one in compose["services"].values() if "build" in one]
    assert len(servers) == 2 and all(int(one["stop_grace_period"][:-1]) >= 25 for one in servers)
    (manifest,) = [list(yaml.safe_load_all(block)) for block in blocks if block.startswith("apiVersion")]
    assert [one["kind"] for one in manifest] == ["Deployment", "Service", "Ingress"]
    pod = manifest[0]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    probes = {container[name]["httpGet"]["path"] for name in ("livenessProbe", "readinessProbe")}
    assert probes == set(HEALTH)
    env = {one["name"]: one["value"] for one in container["env"]}
    settings = load_settings(env | {"COEVAL_DB": "postgresql://db/coeval"})
    assert settings.public_url == "https://coeval.example.org"
    # what is left after draining suffices for requests and questions under way, 10 s each
    assert pod["terminationGracePeriodSeconds"] >= DRAIN_SECONDS + 20


def test_what_is_named_exists() -> None:
    known = (PACKAGE / "settings.py").read_text()
    for name in set(re.findall(r"COEVAL_[A-Z_]+", TEXT)):
        assert f'"{name}"' in known, name
    assert TEXT.count(f"$cookie_{STICKY}") == 2 and all(path in TEXT for path in HEALTH)
