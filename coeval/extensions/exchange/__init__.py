"""Import and export files of other tools. To add a format, write its module and list it here."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="exchange",
    title="Other tools",
    # from the most general to the most specific: a file is read with the last format that matches
    formats=(
        "inspect_logs:FORMAT",
        "eval_runs:PROMPTFOO_FORMAT",
        "eval_runs:DEEPEVAL_FORMAT",
        "helm_runs:FORMAT",
        "lm_eval_samples:FORMAT",
        "otel_spans:FORMAT",
        "mlflow_traces:FORMAT",
        "langsmith_runs:FORMAT",
        "langfuse_traces:FORMAT",
        "phoenix_spans:FORMAT",
        "doccano_labels:FORMAT",
        "potato_states:FORMAT",
        "argilla_records:FORMAT",
        "wide_ratings:FORMAT",
        "label_studio_tasks:MIN_FORMAT",
        "label_studio:FORMAT",
    ),
    exports=(
        "tool_exports:LABEL_STUDIO",
        "tool_exports:INSPECT",
        "tool_exports:FEEDBACK",
    ),
    help=(("For analysts", "tools.md"),),
)
