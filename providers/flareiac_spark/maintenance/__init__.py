"""Maintenance that other providers ask for, as the command line has it carried out.

Brings the application up, asks it, waits for its word and tells its trouble. Never decides what is due and
never touches a table itself.
"""

from flareiac_spark.maintenance.perform import outcome, perform

__all__ = ["outcome", "perform"]
