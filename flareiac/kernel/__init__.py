"""The vocabulary: sources, diagnostics, addresses, paths, types, plain data, graphs.

Knows no HCL, no resource and no system; imports nothing of FlareIaC. Hands its records to every other layer.
"""
