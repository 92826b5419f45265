"""Jobs: what reads, transforms and writes, and whether it runs.

The planner is pure; the driver writes what should run into the control directory and waits for the
application's word. Never runs Spark in its own process. Hands typed job specs to the application.
"""
