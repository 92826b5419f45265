"""Rows of Spark's generator as the driver reads them."""
