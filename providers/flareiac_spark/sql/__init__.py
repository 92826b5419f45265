"""The reading of SQL text without Spark: relations, columns, state, meaning.

Pure, and never a judge: what cannot be parsed here is "unknown", since only Spark decides whether SQL is
right. Hands on names and differences of meaning to the rules and planners of jobs.
"""
