"""Public paths of adapters, which users write into the configuration of other tools."""
