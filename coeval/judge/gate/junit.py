"""The outcome of a gate as a JUnit file, which most services of continuous integration show."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from coeval.errors import InputError
from coeval.judge.gate.deciding import Gate, Outcome

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""


def render_junit(gate: Gate, judge: str) -> bytes:
    """A test case for each criterion: a regression is a failure, what cannot be decided an error."""
    count = {outcome: sum(line.outcome is outcome for line in gate.lines) for outcome in Outcome}
    name = _NO_XML.sub("?", f"{judge}: {gate.terms.new} against {gate.terms.old}")
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(gate.lines)),
        failures=str(count[Outcome.REGRESSION]),
        errors=str(count[Outcome.UNDECIDED]),
    )
    for line in gate.lines:
        case = ElementTree.SubElement(
            suite, "testcase", classname=name, name=_NO_XML.sub("?", line.criterion)
        )
        if line.outcome is Outcome.HELD:
            ElementTree.SubElement(case, "system-out").text = f"{line.figures} {line.why}"
        else:
            kind = "failure" if line.outcome is Outcome.REGRESSION else "error"
            told = ElementTree.SubElement(case, kind, type=str(line.outcome), message=line.why)
            told.text = line.figures
    root = ElementTree.Element("testsuites")
    root.append(suite)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def write_junit(path: Path, gate: Gate, judge: str) -> None:
    """Write the file.

    Raises:
        InputError: it cannot be written.
    """
    try:
        path.write_bytes(render_junit(gate, judge))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error
