"""An extension as another package offers it: a command, a tab of the study app, a file format and a table."""

from coeval.extending import Extension

extension = Extension(
    name="shouting",
    title="Shouting",
    commands=("commands:add_shout",),
    study_tabs=("page:ShoutTab",),
    formats=("files:FORMAT",),
    schema=("tables:STEPS",),
    help=(("For analysts", "help.md"),),
)
