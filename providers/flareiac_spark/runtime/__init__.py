"""The needs of a Spark application before it starts: versions that fit, a Java, the jars, a class-data
archive, start-up options.

Never starts an application and never decides which jars are needed: it gets coordinates and hands on paths
and options. Only ``init`` (and what it calls) reaches the network; every other function works from the lock
file and the user's cache.
"""
