"""The contract for providers and state backends: schemas, changes, planners, drivers, stores.

Holds records and protocols, and the pure comparison that planners share; never touches the world and knows no
resource type.
"""
