"""Avro schemas as plans ask for them: subjects of a registry and what a change of them means."""
