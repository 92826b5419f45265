"""The managed resource ``topic``: schema, plan and driver.

Planning is pure. The driver changes a topic only while it is the one that the plan has seen, by its id.
"""
