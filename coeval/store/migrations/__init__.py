"""The schema, as numbered migrations. A released one is never edited: add the next."""
