"""What asks a model or speaks of its answers: drafts, batch files, and a judge from its file."""
