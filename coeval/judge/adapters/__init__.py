"""Public import paths of adapters, which users write into other tools' configuration."""
