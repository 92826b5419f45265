"""The language: HCL text to syntax, syntax to values, bodies to plain data as a schema says.

Knows no resource, no project layout and no system; never raises for what a user wrote. Hands syntax with
spans, values with their unknown and sensitive marks, and decoded plain data to the configuration layer.
"""
