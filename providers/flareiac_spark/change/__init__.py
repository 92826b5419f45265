"""What a changed definition of a job means for its running queries: differences, Spark's rules, blockers."""
