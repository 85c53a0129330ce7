"""How statistics come about: the tables they rest on, what is kept of them, and the process that computes many."""
