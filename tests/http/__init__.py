"""Over HTTP against the real server, and by the command line."""
