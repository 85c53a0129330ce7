"""A page that teaches agents the commands, and tools that agents call over MCP with a token of an owner."""

from __future__ import annotations

from coeval.extending import Extension

extension = Extension(
    name="agents",
    title="Agents",
    commands=("commands:add_agents",),
    boxes=(("hosting", "page:AgentsBox"),),
    routes=("page:add_agent_routes",),
    schema=("queries:STEPS",),
    help=(("For engineers", "skill.md"),),
)
