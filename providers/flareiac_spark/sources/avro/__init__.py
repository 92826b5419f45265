"""Avro schemas: what they say as columns, how they fit declared ones, and how Spark reads values that were
written with several of them. Travels with the driver.
"""
