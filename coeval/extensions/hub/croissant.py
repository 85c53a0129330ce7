"""A machine-readable description of a study's data set, in Croissant 1.0 with its extension for responsible
AI.

The specifications are http://mlcommons.org/croissant/1.0 and http://mlcommons.org/croissant/RAI/1.0.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coeval.extensions.hub.card import LICENCES, Facts
from coeval.extensions.hub.study_tables import CONFIGS, EDIT, LINE, Column, file_of

CONTEXT: Mapping[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/", "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty", "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract", "field": "cr:field", "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet", "format": "cr:format", "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key", "md5": "cr:md5",
    "parentField": "cr:parentField", "path": "cr:path", "recordSet": "cr:recordSet",
    "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated", "replace": "cr:replace",
    "samplingRate": "cr:samplingRate", "sc": "https://schema.org/", "separator": "cr:separator",
    "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
"""The JSON-LD context of the specification ("Appendix 1: JSON-LD context")."""

TYPES = {"text": "sc:Text", "number": "sc:Float", "whole": "sc:Integer", "numbers": "sc:Float"}


def render_croissant(facts: Facts, folder: Path, endpoint: str) -> str:
    """Describe the tables in a folder as JSON-LD."""
    page = f"{endpoint}/datasets/{facts.repo}"
    title, address = LICENCES[facts.licence]
    described: dict[str, Any] = {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "name": re.sub(r"[^\w-]+", "-", facts.repo.partition("/")[2]),
        "alternateName": facts.title,
        "description": facts.content.study.task.description.strip() or facts.title,
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "license": address or title,
        "url": page,
        "citeAs": f"{facts.title}. {page}",
        "creator": {"@type": "sc:Organization", "name": facts.repo.partition("/")[0]},
        "keywords": ["evaluation of generated text", "human judgments", "coeval"],
        "distribution": [_describe_file(folder / file_of(name), page) for name in CONFIGS],
        "recordSet": [_describe_records(name, columns) for name, columns in CONFIGS.items()],
        **_responsible(facts),
        **_dated(facts),
    }
    return json.dumps(described, ensure_ascii=False, indent=1) + "\n"


def _responsible(facts: Facts) -> dict[str, Any]:
    """Return the properties for responsible AI that the study's data supports."""
    task, content = facts.content.study.task, facts.content
    protocol = " ".join(
        part
        for part in (
            "For each instance and criterion a model drafts a conclusion, a score and quoted evidence; people "
            "approve, revise or delete each line, and add lines.",
            facts.shown,
            f"Guidelines: {task.guidelines.strip()}" if task.guidelines.strip() else "",
        )
        if part
    )
    return {
        "rai:dataCollection": "Outputs were imported; language models wrote drafts; people scrutinised them.",
        "rai:dataCollectionType": ["Manual Human Curation", "Others"],
        "rai:dataAnnotationProtocol": protocol,
        "rai:dataAnnotationPlatform": "CoEval",
        "rai:dataAnnotationAnalysis": facts.methods or "There are not enough scores yet.",
        "rai:annotationsPerItem": str(_per_item(facts)),
        "rai:annotatorDemographics": facts.people,
        "rai:machineAnnotationTools": sorted({run.run.model for run in content.study.runs if run.run.model})
        or ["none"],
        "rai:dataBiases": facts.biases,
        "rai:personalSensitiveInformation": facts.sensitive,
        "rai:dataUseCases": "Evaluating systems and judges, and studying how drafts influence their reviewers.",
    }


def _dated(facts: Facts) -> dict[str, Any]:
    """Return the day of the last save, so that an unchanged study always has the same description."""
    days = [one.submitted_at[:10] for one in facts.content.study.submissions if one.submitted_at]
    return {"datePublished": max(days)} if days else {}


def _per_item(facts: Facts) -> int:
    """Return the largest number of people who judged one instance on one criterion."""
    seen: dict[tuple[str, str], set[str]] = {}
    for one in facts.content.study.submissions:
        seen.setdefault((one.instance, one.criterion), set()).add(one.person)
    return max(map(len, seen.values()), default=0)


def _describe_file(path: Path, page: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": f"{page}/resolve/main/{quote(path.name)}",
        "encodingFormat": "application/x-parquet",
        "contentSize": f"{path.stat().st_size} B",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }


def _describe_records(config: str, columns: Iterable[Column]) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": config,
        "name": config,
        "field": [_describe_field(config, column) for column in columns],
    }


def _describe_field(config: str, column: Column) -> dict[str, Any]:
    name = f"{config}/{column.name}"
    source = {"fileObject": {"@id": file_of(config)}, "extract": {"column": column.name}}
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": name,
        "name": name,
        "description": column.meaning,
    }
    if column.kind in ("numbers", "drafted", "edited"):
        field["repeated"] = True
    if column.kind in TYPES:
        return field | {"dataType": TYPES[column.kind], "source": source}
    parts = LINE if column.kind == "drafted" else EDIT
    return field | {"source": source, "subField": [_describe_part(config, column, part) for part in parts]}


def _describe_part(config: str, column: Column, part: str) -> dict[str, Any]:
    name = f"{config}/{column.name}/{part}"
    steps = {"column": column.name}
    return {
        "@type": "cr:Field",
        "@id": name,
        "name": name,
        "dataType": "sc:Integer" if part == "line" else "sc:Text",
        "source": {
            "fileObject": {"@id": file_of(config)},
            "extract": steps,
            "transform": {"jsonPath": part},
        },
    }
