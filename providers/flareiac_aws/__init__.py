"""State stores, control directories and catalogs share these modules: requests to a bucket, with their
failures explained, and secrets of AWS Secrets Manager. The package is no provider.

``s3_bucket`` and ``secrets_manager`` import boto3, which the extra ``aws`` installs.
"""
