"""The database file: connections, transactions, and its health."""
