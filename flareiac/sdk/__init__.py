"""The contract for providers and state backends: schemas, changes, planners, drivers, stores.

Holds records and protocols, and the pure comparison that planners share; knows no resource type. Only two of
its modules touch the world, so that everyone reads secrets (``secrets``) and buckets (``s3_bucket``) alike.
"""
