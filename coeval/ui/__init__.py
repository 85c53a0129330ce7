"""The screens: the only importers of gradio and fastapi."""

from coeval.settings import prepare_gradio

prepare_gradio()  # must come before the first import of Gradio, which then reads the environment
