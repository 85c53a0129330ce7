"""The screens: the only importers of gradio and fastapi."""

from coeval.settings import prepare_gradio

prepare_gradio()  # must come before the first import of Gradio, which then reads the environment

from gradio import component_meta  # noqa: E402

# at each start, it would write a file with the types of every component of ours beside the sources
component_meta.create_or_modify_pyi = lambda *_: None
