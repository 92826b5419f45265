"""New files of a folder."""
