"""Pure decisions about ballots, evaluations, arms and planted errors. No file, no model, no database."""
