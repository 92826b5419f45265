"""Clusters: what is asked of them and changed in them, through librdkafka.

``client`` alone knows the library, and is imported once a cluster is asked; no command that asks none pays
for it.
"""
