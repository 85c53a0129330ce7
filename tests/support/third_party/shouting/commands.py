from coeval.cli.results import Parsers


def add_shout(parsers: Parsers) -> None:
    shout = parsers.commands.add_parser("shout", help="print a word in capitals")
    shout.add_argument("word")
    shout.set_defaults(command=lambda options: print(options.word.upper()), opens_file=False)
