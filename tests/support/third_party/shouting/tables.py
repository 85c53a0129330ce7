from coeval.store.steps import read_steps

STEPS = read_steps(
    "-- step shouting_tables: words that were shouted\nCREATE TABLE shouting_word (word TEXT) STRICT;\n"
)
