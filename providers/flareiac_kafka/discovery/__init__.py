"""Topics that exist, as blocks of HCL. Reads only."""
