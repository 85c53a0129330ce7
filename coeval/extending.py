"""The interface of extensions, and the functions that find them.

An extension is a folder of ``coeval/extensions``, or an installed package that registers an ``Extension``
under the entry point group ``coeval.extensions``. The core never names an extension: it works with any folder
deleted. ``usecases/scrutiny/steps.py`` has what every save of work shares, and ``usecases/drafting/item_runs.py`` a run
of a model over an extension's items.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from coeval.errors import CoevalError

GROUP = "coeval.extensions"
"""The entry point group of installed packages; CoEval's own extensions are in the folder of the same name."""


@dataclass(frozen=True, slots=True)
class Extension:
    """The parts of one extension, each as ``"module:name"`` within its package.

    They are strings, so that a command does not import Gradio or modules that only other commands need.
    """

    name: str
    title: str
    commands: tuple[str, ...] = ()
    """Functions ``add(parsers: Parsers)`` that add sub-commands to ``python -m coeval``."""
    setup_pages: tuple[str, ...] = ()
    """``Tab`` classes of Set-up; ``group`` is the heading in the side bar, ``Study`` by default."""
    study_tabs: tuple[str, ...] = ()
    """``StudyTab`` classes of the study app, after Agreement."""
    boxes: tuple[tuple[str, str], ...] = ()
    """``Panel`` classes for a page of the core, with that page's name: ``("hosting", "page:PublishBox")``.

    A box of the page ``prefill`` gets the page's ``Form`` as its third argument, and adds its fields. A box of the
    page ``agreement`` is a ``LoadedPanel``.
    """
    routes: tuple[str, ...] = ()
    """Functions ``add(app: FastAPI, context: Context)`` that add routes to the server."""
    formats: tuple[str, ...] = ()
    """``Format`` values, or tuples of them: the file formats that can be imported."""
    exports: tuple[str, ...] = ()
    """``OutFormat`` values, or tuples of them: the file formats that a study can be exported to."""
    protocols: tuple[str, ...] = ()
    """Modules whose import registers protocols and measures."""
    schema: tuple[str, ...] = ()
    """Lists of ``Step`` values, as from ``read_steps``; names begin with the extension's name and ``_``.

    The steps run when the extension first writes: each first write calls ``begin_use`` of ``store/steps.py``,
    and each first read is marked with ``empty_before_use``.
    """
    queue_orders: tuple[str, ...] = ()
    """Functions ``order(db, task: int, instances: list[int]) -> list[int] | None`` that set the queue order.

    They return the given instances in the order in which everybody gets them, without instances that nobody
    should get. They return None if the extension does not order this task.
    """
    label_draws: tuple[str, ...] = ()
    """Functions ``draw(context, person, slug: str, labels: int, uncertainty: Mapping[str, float])`` that let people
    label some instances, drawn with known probabilities that rise with an instance's uncertainty. Another extension
    calls the first one.
    """
    help: tuple[tuple[str, str], ...] = ()
    """Help pages: the reader, such as ``"For analysts"``, and a Markdown file in the extension's folder.

    The address is ``/help/`` and the file's name, or the extension's name for ``help.md``. The title is the
    first heading.
    """
    scripts: tuple[str, ...] = ()
    """Scripts and styles in the folder ``static``, loaded when the study page first shows a screen of an extension.

    A script builds a screen from the parts in ``coeval.parts``, and registers it with ``coeval.addScreen``
    (``ui/static/main.js``).
    """
    package: str = ""
    """The package of the names above, set when the extension is found."""


@cache
def list_extensions() -> tuple[Extension, ...]:
    """Return every extension, CoEval's own first, each group sorted by name.

    Raises:
        CoevalError: two extensions have the same name.
    """
    extensions = [*_list_folders(), *_list_installed()]
    names = [each.name for each in extensions]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise CoevalError(f"Two extensions are called {twice[0]}: uninstall one of them.")
    return tuple(extensions)


def _list_folders() -> list[Extension]:
    try:
        home = import_module(GROUP)
    except ModuleNotFoundError as error:
        if error.name != GROUP:
            raise
        return []  # the core runs without extensions
    packages = [each.name for each in pkgutil.iter_modules(home.__path__, f"{GROUP}.") if each.ispkg]
    return [_read(import_module(name).extension, name) for name in sorted(packages)]


def _list_installed() -> list[Extension]:
    offered = sorted(entry_points(group=GROUP), key=lambda each: each.name)
    return [_read(each.load(), each.module) for each in offered]


def _read(value: Extension, package: str) -> Extension:
    return replace(value, package=value.package or package)


def load_parts(kind: str, place: str = "") -> list[Any]:
    """Import and return all extensions' parts of one kind; for boxes, ``place`` is the page."""
    parts = []
    for extension in list_extensions():
        for part in getattr(extension, kind):
            if isinstance(part, tuple):
                page, part = part
                if page != place:
                    continue
            parts.append(_load(extension, part))
    return parts


def find_order(db: Any, task: int, instances: Iterable[int]) -> list[int] | None:
    """Return the order in which an extension assigns these instances of a task; None if no extension orders
    the task.
    """
    ids = list(instances)
    orders = (order(db, task, ids) for order in load_parts("queue_orders"))
    return next((each for each in orders if each is not None), None)


def load_named_parts(kind: str) -> list[tuple[str, Any]]:
    """Return the parts of one kind, each with the name of its extension."""
    return [(each.name, _load(each, part)) for each in list_extensions() for part in getattr(each, kind)]


def load_values(kind: str, of: type) -> list[Any]:
    """Return all values of one kind; a part may be a single value or a tuple of several."""
    return [
        value for part in load_parts(kind) for value in ((part,) if isinstance(part, of) else tuple(part))
    ]


def list_scripts() -> list[tuple[str, Path, tuple[str, ...]]]:
    """Return the name, the ``static`` folder and the scripts of every extension that has scripts."""
    return [
        (each.name, Path(str(import_module(each.package).__file__)).parent / "static", each.scripts)
        for each in list_extensions()
        if each.scripts
    ]


def _load(extension: Extension, part: str) -> Any:
    module, _, name = part.partition(":")
    loaded = import_module(f"{extension.package}.{module}" if module else extension.package)
    return getattr(loaded, name) if name else loaded
