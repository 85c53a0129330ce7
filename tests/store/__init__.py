"""The database file: schema, transactions, faults, size."""
