"""The effect of a job's changed definition on its running queries: differences, Spark's rules, blockers."""
