"""Who may do what, as the in-app help shows it: made from the use cases themselves.

``python -m coeval.ui.server.roles`` writes the table into ``help/roles.md``; a test compares the two.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path

import coeval.study
from coeval.domain import Role
from coeval.study.access import RULES, Rule

FILE = Path(__file__).parents[1] / "help" / "roles.md"
HEAD = """# Who may do what

A guest is a stranger who came by a crowd service's link, or by Hugging Face and has no role from an owner yet:
what is ticked, a guest may do only in a study they joined and that gives them work now. Everything concerns
one's own work unless it says otherwise; what nobody may do has no line.

| What | Owner | Researcher | Annotator | Guest |
|---|---|---|---|---|
"""


def load_rules() -> dict[str, Rule]:
    """Every use case with who may call it, by its full name."""
    for module in pkgutil.walk_packages(coeval.study.__path__, "coeval.study."):
        import_module(module.name)
    return dict(sorted(RULES.items()))


def render_roles() -> str:
    """The table as Markdown, one line a use case."""
    return HEAD + "".join(_line(rule) for rule in load_rules().values())


def _line(rule: Rule) -> str:
    ticks = ["✓" if role in rule.roles else "" for role in (Role.OWNER, Role.RESEARCHER, Role.ANNOTATOR)]
    cells = [rule.summary.rstrip(".").replace("|", "\\|"), *ticks, "✓" if rule.guests else ""]
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    FILE.write_text(render_roles(), encoding="utf-8")
    print(FILE)
