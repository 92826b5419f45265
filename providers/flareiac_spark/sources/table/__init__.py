"""The stream of the rows that snapshots add to an Iceberg table."""
