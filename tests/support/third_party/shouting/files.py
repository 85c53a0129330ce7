from coeval.datasets.file_format import Format
from coeval.datasets.source import source_of
from coeval.domain import Instance, Study, Task


def read(path, slug, columns):
    """Read a file in which every line is ``input=>output``."""
    pairs = [line.split("=>") for line in path.read_text(encoding="utf-8").splitlines()]
    instances = [Instance(f"{n}", given, made, given, "") for n, (given, made) in enumerate(pairs, 1)]
    return source_of(Study(Task(slug, slug), tuple(instances)))


FORMAT = Format("shout", "Shouts (*.shout)", fits=lambda path, columns: path.suffix == ".shout", open=read)
