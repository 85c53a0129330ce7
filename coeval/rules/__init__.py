"""Pure decisions about ballots, evaluations, arms and planted errors, without files, models or databases."""
