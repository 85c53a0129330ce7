from coeval.store.engines.database import append
from coeval.store.steps import begin_use, read_steps

STEPS = read_steps(
    "-- step shouting_tables: words that were shouted\nCREATE TABLE shouting_word (word TEXT) STRICT;\n"
)


def keep_word(db, word):
    begin_use(db, "shouting")
    append(db, "shouting_word", {"word": word})
