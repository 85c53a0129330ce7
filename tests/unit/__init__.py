"""Functions by themselves: no server, no network."""
