"""Data sets of the Hub, both ways, against a local stand-in over HTTP."""
