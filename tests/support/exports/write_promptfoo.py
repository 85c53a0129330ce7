"""Writes the results of an evaluation among the tests' data, with promptfoo itself; nothing is asked of a model.

``python -m tests.support.exports.write_promptfoo FOLDER`` (promptfoo 0.123.1, which ``npx`` fetches). Ratings given in
promptfoo's viewer are in ``promptfoo.json``, which is written by hand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CONFIG = {
    "description": "garden",
    "prompts": [
        {"id": "p", "label": "p", "raw": json.dumps([
            {"role": "system", "content": "Be brief."}, {"role": "user", "content": "When do I sow {{plant}}?"},
        ])}
    ],
    "providers": [{"id": "file://gardener.js", "label": "gardener-1"}],
    "tests": [
        {"vars": {"plant": "beans", "row": "01"}, "assert": [
            {"type": "contains", "value": "May"},
            {"type": "llm-rubric", "value": "Is kind", "metric": "kindness", "provider": "file://grader.js"},
        ]},
        {"vars": {"plant": "roses", "row": "02"}, "assert": [{"type": "contains", "value": "March"}]},
        {"vars": {"plant": "nettles", "row": "03"}, "assert": [{"type": "contains", "value": "May"}]},
    ],
}  # fmt: skip
GARDENER = """module.exports = class {
  id() { return 'file://gardener.js'; }
  async callApi(prompt) {
    if (prompt.includes('beans')) return { output: 'In May.' };
    return prompt.includes('roses') ? { output: { month: 'May' } } : { error: 'timed out' };
  }
};
"""
GRADER = """module.exports = class {
  id() { return 'grader-1'; }
  async callApi() {
    return { output: JSON.stringify({ pass: true, score: 0.8, reason: 'Short and kind.' }) };
  }
};
"""
QUIET = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
}


def write(target: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "promptfooconfig.json").write_text(json.dumps(CONFIG))
        (folder / "gardener.js").write_text(GARDENER)
        (folder / "grader.js").write_text(GRADER)
        command = ["npx", "--yes", "promptfoo@0.123.1", "eval", "-c", "promptfooconfig.json"]
        subprocess.run(
            [*command, "--output", "results.json", "--no-cache", "--no-table"],
            cwd=folder,
            env=os.environ | QUIET | {"PROMPTFOO_CONFIG_DIR": name},
        )  # it ends with an error where an assertion failed, as one does
        results = json.loads((folder / "results.json").read_text())
    for row in results["results"]["results"]:
        for part in row["gradingResult"]["componentResults"] if row.get("gradingResult") else ():
            part.pop("metadata", None)  # the text of promptfoo's own prompt
    target.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]) / "promptfoo_eval.json")
