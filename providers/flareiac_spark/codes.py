"""The codes of the Spark provider: an id and a title each, once. ``codes.md`` explains them. Pure."""
