"""The screens: the only importers of gradio and fastapi."""

from coeval.settings import prepare_gradio

prepare_gradio()  # before anything here imports Gradio, which reads its environment then
