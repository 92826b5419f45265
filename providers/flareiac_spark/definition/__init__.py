"""The definition of a job: its schema, its canonical attributes, its code, the spec that the application
runs.
"""
