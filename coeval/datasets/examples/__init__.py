"""Studies that come with CoEval: the demo task, and a finished one to look at."""
