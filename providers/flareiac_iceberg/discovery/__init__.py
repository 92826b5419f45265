"""Tables that exist and are not declared, as blocks of HCL that plan as they are.

Reads catalogs and metadata and nothing else; adopts nothing. Hands on blocks, and what cannot be said as one.
"""
