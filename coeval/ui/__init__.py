"""The screens: the only importers of gradio and fastapi."""
