"""How the pages look and what their heads load; colours and sizes are in static/css/coeval.css."""

from __future__ import annotations

import gradio as gr

THEME = gr.themes.Base(
    primary_hue=gr.themes.Color(
        "#eef1ff", "#e8ecff", "#c9d2ff", "#a9b6ff", "#8c9eff", "#3d5afe", "#3550e6", "#2c43c4", "#25389f",
        "#1f2f80", "#18245f",
    ),
    neutral_hue="slate",
    font=["Inter", "Source Sans 3", "system-ui", "sans-serif"],
    font_mono=["ui-monospace", "monospace"],
    radius_size="md",
).set(
    body_background_fill="var(--bg)", body_background_fill_dark="var(--bg)",
    body_text_color="var(--ink)", body_text_color_dark="var(--ink)",
    body_text_color_subdued="var(--soft)", body_text_color_subdued_dark="var(--soft)",
    block_background_fill="transparent", block_background_fill_dark="transparent",
    block_border_width="0px", block_border_width_dark="0px", block_padding="0px",
    block_label_text_color="var(--soft)", block_title_text_color="var(--soft)",
    block_title_text_color_dark="var(--soft)", block_title_text_size="13px", block_title_text_weight="600",
    block_info_text_color="var(--soft)", block_info_text_color_dark="var(--soft)", block_info_text_size="12.5px",
    input_background_fill="var(--bg)", input_background_fill_dark="var(--bg)",
    input_border_color="var(--line)", input_border_color_dark="var(--line)", input_border_width="1px",
    border_color_primary="var(--line)", border_color_primary_dark="var(--line)",
    panel_background_fill="transparent", panel_border_width="0px",
    button_primary_background_fill="var(--brand)", button_primary_background_fill_dark="var(--brand)",
    button_primary_background_fill_hover="var(--brand-ink)",
    button_primary_background_fill_hover_dark="var(--brand-ink)",
    button_primary_text_color="var(--on-brand)", button_primary_text_color_dark="var(--on-brand)",
    button_secondary_background_fill="var(--card)", button_secondary_background_fill_dark="var(--card)",
    button_secondary_background_fill_hover="var(--brand-soft)",
    button_secondary_background_fill_hover_dark="var(--brand-soft)",
    button_secondary_text_color="var(--ink)", button_secondary_text_color_dark="var(--ink)",
    button_secondary_border_color="var(--edge)", button_secondary_border_color_dark="var(--edge)",
    button_border_width="1px", button_border_width_dark="1px",
    button_large_padding="9px 16px", button_large_text_size="15px", button_large_text_weight="600",
    button_large_radius="9px",
)  # fmt: skip

HEAD = """
<link rel="icon" type="image/svg+xml" href="{static}favicon.svg">
<link rel="stylesheet" href="{static}css/coeval.css">
<link rel="stylesheet" href="{static}css/app.css">
<link rel="stylesheet" href="{static}css/agreement.css">
<link rel="stylesheet" href="{static}css/judge.css">
<script>
  /* components may be built before the modules below have loaded: they wait here */
  window.coevalReady = (run) => window.coeval?.view ? run() : addEventListener('coeval-ready', run, {{once: true}});
</script>
<script type="module" src="{static}main.js"></script>
"""
