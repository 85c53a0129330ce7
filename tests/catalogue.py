"""The catalogue of what annotators read, brought up to date: ``python -m tests.catalogue``; ``... fr`` begins French.

Reads the texts marked by ``tr`` and ``trn`` in ``coeval/`` and writes ``coeval/locale/coeval.pot``, then for every
language its ``.po`` (translations are kept, texts that are new stand in it empty), what Python reads of it (``.mo``)
and what the browser does (``coeval/ui/static/locale/LANGUAGE.json``). ``tests/unit/test_catalogue.py`` holds the
files against this.
"""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from babel.plural import to_gettext

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "coeval" / "locale"
BROWSER = ROOT / "coeval" / "ui" / "static" / "locale"
POT = LOCALE / "coeval.pot"
METHODS = [
    ("ui/static/vendor/**", "ignore"),
    ("**.py", "python"),
    ("ui/server/pages/**.html", "jinja2"),
    ("ui/static/**.js", "javascript"),
    ("extensions/*/static/**.js", "javascript"),
]
KEYWORDS: dict[str, Any] = {"tr": None, "trn": (1, 2), "trParts": None, "later": None}
WIDTH = 110
SILENT = tuple(
    f'"{name}: '.encode()
    for name in (
        "Project-Id-Version", "Report-Msgid-Bugs-To", "POT-Creation-Date", "PO-Revision-Date", "Last-Translator",
        "Language-Team", "Generated-By",
    )
)  # fmt: skip
"""Headers that would change with no text of ours."""

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
"""In place of the time of writing."""


def extract() -> Catalog:
    """The texts as they stand in the code, with the files that say them."""
    catalog = _begin(None)
    found = extract_from_dir(
        ROOT / "coeval",
        METHODS,
        {where: {"parse_template_string": True} for where, how in METHODS if how == "javascript"},
        keywords=KEYWORDS,
        comment_tags=["Translators:"],
        strip_comment_tags=True,
    )
    for name, _, text, comments, context in sorted(found, key=lambda one: (one[0], one[1])):
        catalog.add(text, locations=[(f"coeval/{name}", 0)], auto_comments=comments, context=context)
    return catalog


def _begin(code: str | None) -> Catalog:
    catalog = Catalog(
        code, creation_date=BEGUN, revision_date=BEGUN, fuzzy=False,
        header_comment="# The words that annotators read, written by python -m tests.catalogue",
    )  # fmt: skip
    if code:
        # the forms in the order of the Unicode CLDR, as Intl.PluralRules has them in a browser
        forms = [("Plural-Forms", to_gettext(Locale.parse(code).plural_form))]
        catalog.mime_headers = forms
    return catalog


def list_codes() -> list[str]:
    """The languages other than English."""
    return sorted(path.name for path in LOCALE.iterdir() if path.is_dir())


def po_of(code: str) -> Path:
    return LOCALE / code / "LC_MESSAGES" / "coeval.po"


def read(code: str) -> Catalog:
    """A language's catalogue as it is stored."""
    return read_po(io.BytesIO(po_of(code).read_bytes()), locale=code)


def update(code: str, template: Catalog) -> Catalog:
    """A language's catalogue with the texts of today; those no longer said are left out."""
    catalog = _begin(code)
    known = {one.id: one for one in read(code) if one.id} if po_of(code).exists() else {}
    for one in template:
        if not one.id:
            continue
        old = known.get(one.id)
        catalog.add(one.id, old.string if old else None, one.locations, auto_comments=one.auto_comments)
    return catalog


def render(catalog: Catalog) -> bytes:
    """The text of a .po file, or of the .pot."""
    file = io.BytesIO()
    write_po(file, catalog, width=WIDTH, include_lineno=False, sort_by_file=True)
    lines = file.getvalue().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(SILENT))


def render_mo(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def render_json(catalog: Catalog) -> str:
    """What the scripts of the pages say, by the English: a text, or a list of its plural forms."""
    words = {_key(one): one.string for one in catalog if one.id and _is_in_script(one) and _is_said(one)}
    direction = Locale.parse(str(catalog.locale)).text_direction
    content = {"language": str(catalog.locale), "direction": direction, "words": words}
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _is_in_script(one: Message) -> bool:
    return any(name.endswith(".js") for name, _ in one.locations)


def _is_said(one: Message) -> bool:
    return all(one.string) if isinstance(one.string, (tuple, list)) else bool(one.string)


def _key(one: Message) -> str:
    return str(one.id[0] if isinstance(one.id, (tuple, list)) else one.id)


def write_all(*new: str) -> None:
    """Write every file of the catalogue."""
    template = extract()
    POT.write_bytes(render(template))
    BROWSER.mkdir(exist_ok=True)
    for code in sorted({*list_codes(), *new}):
        Locale.parse(code)
        catalog = update(code, template)
        po_of(code).parent.mkdir(parents=True, exist_ok=True)
        po_of(code).write_bytes(render(catalog))
        po_of(code).with_suffix(".mo").write_bytes(render_mo(catalog))
        (BROWSER / f"{code}.json").write_text(render_json(catalog), encoding="utf-8")
        missing = sum(bool(one.id) and not _is_said(one) for one in catalog)
        print(f"{code}: {len(catalog)} texts, {missing} to translate in {po_of(code).relative_to(ROOT)}")


if __name__ == "__main__":
    write_all(*sys.argv[1:])
