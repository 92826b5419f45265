"""From files to desired resources: modules, variables, expansion, references, canonical attributes.

Reads files and the environment and nothing else; never asks a system. Hands on ``Desired`` and every complaint it can find.
"""
