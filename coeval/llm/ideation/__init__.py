"""The model proposes, and a person decides: criteria, evaluation steps, the plan of a fusion."""
