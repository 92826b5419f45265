"""FlareIaC: plan/apply for streaming lakehouses."""

__version__ = "0.1.0"
