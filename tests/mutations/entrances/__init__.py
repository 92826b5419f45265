"""Places where bytes from outside come in, each with inputs that are thrown at it in one process: many more
than commands can be run on.
"""
