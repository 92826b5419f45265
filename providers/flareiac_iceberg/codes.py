"""The codes of the Iceberg provider: an id and a title each, once. ``codes.md`` explains them. Pure."""
