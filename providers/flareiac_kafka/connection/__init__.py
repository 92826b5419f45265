"""The ``kafka`` connection: how clients open a cluster, and where its schema registry is. Pure.

Knows settings by the names of Kafka's Java client; never opens anything.
"""
