"""The contract for providers and state backends: schemas, changes, planners, drivers, stores.

Holds records and protocols, and the pure comparison that planners share; knows no resource type. Two of its
modules touch the world, so that every provider does it alike: ``secrets`` reads secrets, ``http_client`` asks
servers. Section 5 of ``flareiac/docs/dev/providers.md`` says which names are stable for other packages.
"""
