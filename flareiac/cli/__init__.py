"""Arguments, exit codes, wiring: the only layer that prints and exits, and the only user of ``render``.

Imports nothing heavy before a command needs it; decides nothing that a use case should decide.
"""
