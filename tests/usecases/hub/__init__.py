"""Data sets of the Hub, against a local stand-in over HTTP."""
