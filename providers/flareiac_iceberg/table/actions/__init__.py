"""The actions of the driver of tables, a class and a file for each kind. Each carries the action out,
and tells by ``settled`` whether it took effect where its result was lost. The other files hold the parts that
they share.
"""
