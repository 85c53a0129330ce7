"""The normal forms of the names in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from coeval.datasets import Source
from coeval.datasets.source import Rows
from coeval.domain import ImportedDraft, ImportedSubmission, Instance
from coeval.errors import InputError
from coeval.rules.names import normalize_name
from coeval.usecases.sessions import check_name

GiveForm = Callable[[str], str]


def _form(what: str, normalize: GiveForm) -> GiveForm:
    """Return a function for the normal form of a name, which raises an InputError with ``what`` for a bad one."""

    @lru_cache(maxsize=500)
    def give_form(name: str) -> str:
        if not name:
            return ""
        try:
            return normalize(name)
        except InputError as error:
            raise InputError(f"{what} “{name[:80]}” cannot be used. {error}") from None

    return give_form


person_form = _form("The annotator", check_name)
criterion_form = _form("The criterion", normalize_name)
item_form = _form("The name", normalize_name)
"""The form of the name of an instance, a document or a system."""


def normalize_names(source: Source) -> Source:
    """Return the source with all names of people, criteria, instances, documents and systems in normal form."""

    def fix_instance(one: Instance) -> Instance:
        names = item_form(one.external_id), item_form(one.document), item_form(one.system)
        if names == (one.external_id, one.document, one.system):
            return one
        return replace(one, external_id=names[0], document=names[1], system=names[2])

    def fix_draft(labelled: tuple[str, ImportedDraft]) -> tuple[str, ImportedDraft]:
        label, one = labelled
        names = item_form(one.instance), criterion_form(one.criterion)
        if names == (one.instance, one.criterion):
            return labelled
        return label, replace(one, instance=names[0], criterion=names[1])

    def fix_submission(one: ImportedSubmission) -> ImportedSubmission:
        names = person_form(one.person), item_form(one.instance), criterion_form(one.criterion)
        if names == (one.person, one.instance, one.criterion):
            return one
        return replace(one, person=names[0], instance=names[1], criterion=names[2])

    texts = [criterion_form(one.text) for one in source.criteria]
    for text in texts:
        if texts.count(text) > 1:
            raise InputError(f"The criterion “{text[:80]}” is in the file twice: remove one of the two.")
    return replace(
        source,
        instances=Rows(lambda: map(fix_instance, source.instances)),
        criteria=tuple(
            one if one.text == text else replace(one, text=text)
            for one, text in zip(source.criteria, texts, strict=True)
        ),
        drafts=Rows(lambda: map(fix_draft, source.drafts)),
        submissions=Rows(lambda: map(fix_submission, source.submissions)),
    )
