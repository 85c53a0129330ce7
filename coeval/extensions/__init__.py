"""Extensions of the core, one folder each with all of its parts."""
