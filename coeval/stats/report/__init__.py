"""The sections of the report, the paper's tables, and the methods paragraph."""
