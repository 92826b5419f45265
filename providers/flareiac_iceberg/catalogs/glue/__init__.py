"""The AWS Glue Data Catalog."""
