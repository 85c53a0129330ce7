"""Pure decisions: what a ballot, an evaluation, an arm and a planted error must be. No file, no model, no database."""
