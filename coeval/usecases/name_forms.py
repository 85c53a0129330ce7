"""The stored or normal forms of the names in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from coeval.datasets import Source
from coeval.datasets.source import Rows
from coeval.domain import ImportedDraft, ImportedSubmission, Instance, Task
from coeval.errors import InputError
from coeval.rules.names import normalize_name
from coeval.store import Database
from coeval.store.queries import criteria, people, tasks
from coeval.usecases.sessions import check_name

GiveForm = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class NameForms:
    """Functions that return the form of a name: the stored form if it exists, or else the normal form.

    ``instance`` also serves documents and systems. Each raises an InputError for a name that cannot be used.
    """

    person: GiveForm
    criterion: GiveForm
    instance: GiveForm


def read_name_forms(db: Database, task: Task | None) -> NameForms:
    """Return the forms of names for files of a task, which may not exist yet."""
    current = criteria.get_criteria_set(db, task.id) if task else None
    return NameForms(
        _form("The annotator", check_name, [one.name for one in people.list_people(db)]),
        _form("The criterion", normalize_name, [one.text for one in current.criteria] if current else ()),
        _form("The name", normalize_name, tasks.list_names(db, task.id) if task else ()),
    )


def normalize_names(db: Database, task: Task | None, source: Source) -> Source:
    """Return the source with all names of people, criteria, instances, documents and systems in stored form.

    Names that are not stored get the normal form. Earlier versions stored other forms; keeping them lets the
    same file be imported again.
    """
    forms = read_name_forms(db, task)
    person, criterion, instance = forms.person, forms.criterion, forms.instance

    def fix_instance(one: Instance) -> Instance:
        names = instance(one.external_id), instance(one.document), instance(one.system)
        if names == (one.external_id, one.document, one.system):
            return one
        return replace(one, external_id=names[0], document=names[1], system=names[2])

    def fix_draft(labelled: tuple[str, ImportedDraft]) -> tuple[str, ImportedDraft]:
        label, one = labelled
        names = instance(one.instance), criterion(one.criterion)
        if names == (one.instance, one.criterion):
            return labelled
        return label, replace(one, instance=names[0], criterion=names[1])

    def fix_submission(one: ImportedSubmission) -> ImportedSubmission:
        names = person(one.person), instance(one.instance), criterion(one.criterion)
        if names == (one.person, one.instance, one.criterion):
            return one
        return replace(one, person=names[0], instance=names[1], criterion=names[2])

    texts = [criterion(one.text) for one in source.criteria]
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


def _form(what: str, normalize: GiveForm, stored: Iterable[str]) -> GiveForm:
    """Return a function for the form of a name: the stored form if it exists, or else that of ``normalize``."""
    known: dict[str, str] = {}
    normal: set[str] = set()
    for name in stored:
        try:
            form = normalize(name)
        except InputError:
            form = name
            known[name] = name
        if form == name:
            normal.add(name)
        else:
            known |= {name: name, form: name}
    known = {form: name for form, name in known.items() if form == name or form not in normal}

    @lru_cache(maxsize=500)
    def give_form(name: str) -> str:
        if not name or name in known:
            return known.get(name, "")
        try:
            form = normalize(name)
        except InputError as error:
            raise InputError(f"{what} “{name[:80]}” cannot be used. {error}") from None
        return known.get(form, form)

    return give_form
