"""Commands that other tools have and this one has not, with what does their work here. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_STATE_LIST: Final = "flareiac state list names what is recorded; flareiac status shows what runs."
_PLAN: Final = "flareiac plan shows what an apply would do."
_STOP: Final = "flareiac stop JOB stops a job; stopped = true in its block keeps it stopped."
_MAINTAIN: Final = "flareiac maintain runs the maintenance that is due; table blocks say which they want."
_UNLOCK: Final = "flareiac lock status shows the id of the lock, flareiac lock release ID takes it away."
_PAGES: Final = "flareiac explain lists the pages of the documentation."
_APPLY: Final = "flareiac apply carries out the configuration."
_JOBS: Final = "flareiac status shows the jobs."
_NO_ROWS: Final = (
    "FlareIaC shows no rows. Read a table with Spark SQL or pyiceberg; flareiac status counts what jobs read "
    "and write."
)
_NO_LOGIN: Final = (
    "There is nothing to log in to: credentials come from secret blocks, from the environment, or from the "
    "profile of a client (flareiac explain secret)."
)

SUBSTITUTES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "test": "flareiac validate checks the configuration; apply has Spark check the SQL before it changes "
        "anything.",
        "providers": "Providers are Python packages that pip installs; flareiac explain lists their blocks.",
        "modules": "There are no modules yet; for_each repeats a block (flareiac explain environments shares "
        "files).",
        "get": "There are no modules to download. flareiac init downloads the jars.",
        "refresh": "Each plan reads what exists. flareiac drift reports what changed outside of the "
        "configuration.",
        "taint": "flareiac plan -replace=ADDRESS destroys a resource and creates it again.",
        "untaint": "Nothing is marked for later: leave out -replace.",
        "force-unlock": _UNLOCK,
        "unlock": _UNLOCK,
        "help": "flareiac explain has the documentation.",
        "man": _PAGES,
        "docs": _PAGES,
        "login": _NO_LOGIN,
        "logout": _NO_LOGIN,
        "env": "It is called workspace: flareiac workspace list.",
        "workspaces": "flareiac workspace list lists them.",
        "metadata": "flareiac explain -json has every block and function for programs.",
        "lint": "flareiac validate checks the configuration.",
        "check": "flareiac validate checks the configuration; flareiac doctor checks this machine and the "
        "systems.",
        "diff": _PLAN,
        "preview": f"{_PLAN} {_NO_ROWS}",
        "query": _NO_ROWS,
        "sql": _NO_ROWS,
        "deploy": _APPLY,
        "up": _APPLY,
        "down": "flareiac destroy removes everything; flareiac stop stops jobs.",
        "delete": "Remove its block and apply; flareiac destroy removes everything.",
        "rm": "flareiac state rm forgets a resource; to remove it, remove its block and apply.",
        "mv": "flareiac state mv OLD NEW records a resource under another address.",
        "ls": _STATE_LIST,
        "list": _STATE_LIST,
        "jobs": _JOBS,
        "ps": _JOBS,
        "health": "flareiac status shows the jobs; flareiac doctor examines the machine and the systems.",
        "metrics": "flareiac explain monitoring says where the metrics are.",
        "kill": _STOP,
        "cancel": _STOP,
        "pause": _STOP,
        "resume": "flareiac start JOB starts a stopped job where it stands.",
        "run": "flareiac apply starts the jobs; flareiac start JOB starts a stopped one again.",
        "submit": "flareiac apply starts the jobs; flareiac explain clusters covers spark-submit.",
        "rollback": "flareiac table rollback sets a table back; flareiac state rollback the state.",
        "restore": "flareiac undrop brings back what was dropped; flareiac table rollback sets a table back.",
        "undo": "Apply an earlier commit of the files; flareiac undrop brings back what was dropped.",
        "migrate": "flareiac init -migrate-state moves the state to another backend.",
        "upgrade": "pip upgrades FlareIaC; flareiac init -upgrade then takes the jars of that release.",
        "compact": _MAINTAIN,
        "optimize": _MAINTAIN,
        "vacuum": _MAINTAIN,
        "schedule": "cron or a timer of systemd runs flareiac restart or apply (flareiac explain service).",
        "completion": "There is no completion for shells yet.",
    }
)
"""By the command that someone types: one or two sentences that name the way here."""
