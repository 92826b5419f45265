"""Iceberg's table format as JSON: types, schemas, layouts, metadata, snapshots, manifests.

Everything here is pure: it takes text, bytes or JSON and gives records or JSON. It knows no catalog and opens
no file.
"""
