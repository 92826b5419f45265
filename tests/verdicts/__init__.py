"""Pairs of queries: a generator makes them, Spark judges whether they mean the same, and the product's
verdict is held against that.
"""
