"""What snapshots add to an Iceberg table."""
