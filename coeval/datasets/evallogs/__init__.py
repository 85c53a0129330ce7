"""Results of evaluations and annotations of traces, as the tools that ran them write them."""
