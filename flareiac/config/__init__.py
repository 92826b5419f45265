"""From files to desired resources: modules, variables, expansion, references, canonical attributes.

Reads files and the environment; never asks a system, but for the port it is given for ``data`` blocks. Hands
on ``Desired`` and every complaint it can find.
"""
