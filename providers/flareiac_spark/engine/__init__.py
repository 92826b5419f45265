"""Engines: where jobs run. A connection, known at plan; never starts anything."""
