"""The codes of diagnostics: an id and a title each, once. Pure.

The table of the core stands here; each provider keeps a ``codes`` module of its own. What a code means at length stands in its page.
"""

from types import ModuleType
from typing import Final, NamedTuple


class Code(NamedTuple):
    """One kind of diagnostic. The ``id`` never changes its meaning; the ``title`` is fixed and holds no data of the user."""

    id: str
    title: str


class CodeTable(NamedTuple):
    """The codes that one package uses, and the Markdown files that explain them: ``package`` is where the files are."""

    codes: tuple[Code, ...]
    package: str
    folder: str = ""
    """Empty: the pages are the one file ``codes.md`` of the package. Otherwise: all Markdown files of this folder."""


def code_table(module: ModuleType, *, package: str | None = None, folder: str = "") -> CodeTable:
    """The codes that a module defines as constants. The pages belong to the module's own package unless told otherwise."""
    codes = tuple(value for value in vars(module).values() if isinstance(value, Code))
    return CodeTable(codes, package or module.__name__.rpartition(".")[0], folder)


NO_CODES: Final = CodeTable((), "")

# Codes of the state: FIS
STATE_UNREADABLE: Final = Code("FIS001", "The state cannot be read")
STATE_UNREACHABLE: Final = Code("FIS002", "The state cannot be reached")
STATE_LOCK_UNAVAILABLE: Final = Code("FIS003", "The state lock cannot be taken")
STATE_CHANGED_MEANWHILE: Final = Code("FIS004", "The state was changed by another process")
STATE_NOT_WRITTEN: Final = Code("FIS005", "The state cannot be written")
STATE_LOCKED: Final = Code("FIS010", "The state is locked")
UNKNOWN_BACKEND_SETTING: Final = Code("FIS011", "Unknown setting of the state backend")
INVALID_WORKSPACE: Final = Code("FIS012", "Invalid workspace name")
STATE_LOCK_UNREADABLE: Final = Code("FIS013", "The state lock cannot be read")

# Codes of planning: FIP
NO_ANSWER: Final = Code("FIP001", "No answer about a resource")
NOT_PLANNED: Final = Code("FIP002", "A resource was not planned")
APPLY_INTERRUPTED: Final = Code("FIP003", "The last apply was interrupted")
JOURNAL_CUT_OFF: Final = Code("FIP004", "The last record of the journal was cut off")
READING_FAILED: Final = Code("FIP005", "Reading a resource failed unexpectedly")
COMMAND_RUNNING: Final = Code("FIP006", "Another command is running")
SAME_OBJECT: Final = Code("FIP010", "Two resources are the same object")
SAME_CHECKPOINT: Final = Code("FIP011", "Two jobs use the same checkpoint")
SAME_LOCATION: Final = Code("FIP012", "Two resources own the same location")
RIVAL_WRITERS_REPLACE: Final = Code("FIP013", "Two writers of one table, and one of them replaces all its rows")
RIVAL_WRITERS_CHANGE: Final = Code("FIP014", "Two writers of one table, and one of them changes rows of the other")
PROMISE_BROKEN: Final = Code("FIP020", "The provider returned a wrong plan")
PREVENT_DESTROY: Final = Code("FIP021", "The resource is protected from destruction")
TOO_MANY_DESTROYED: Final = Code("FIP022", "The plan destroys more than -max-destroys allows")
OPERATION_CYCLE: Final = Code("FIP023", "The operations wait for each other in a circle")
NO_SUCH_RESOURCE: Final = Code("FIP024", "No resource matches this address")
MAINTENANCE_NOT_KNOWN: Final = Code("FIP030", "The maintenance that a table needs is not known")
MAINTENANCE_LEFT_OUT: Final = Code("FIP031", "The maintenance of a resource is left out")
LOOKS_RELABELLED: Final = Code("FIP032", "A resource looks like another one under a new label")

# Codes of applying: FIA
PLAN_OF_ANOTHER_STATE: Final = Code("FIA001", "The plan belongs to another state")
PLAN_STALE: Final = Code("FIA002", "The plan is stale")
STATE_LOCK_LOST: Final = Code("FIA010", "The state lock was lost")
FINAL_STATE_NOT_WRITTEN: Final = Code("FIA012", "The final state could not be written")
PROVIDER_FAILED: Final = Code("FIA013", "The provider failed unexpectedly")
MAINTENANCE_WITHOUT_ENGINE: Final = Code("FIA021", "Nothing can carry out the maintenance")
RESOURCE_GONE: Final = Code("FIA022", "The resource no longer exists")

# Codes of commands, the installation and secrets: FIX
NAME_OFFERED_TWICE: Final = Code("FIX010", "Two providers offer the same name")
STATE_BACKEND_NOT_INSTALLED: Final = Code("FIX011", "The state backend is not installed")
PROVIDER_NOT_INSTALLED: Final = Code("FIX012", "The provider is not installed")
VARIABLE_ARGUMENT_WITHOUT_VALUE: Final = Code("FIX013", "A -var option has no value")
UNKNOWN_RECORDED_TYPE: Final = Code("FIX014", "The state holds a resource of an unknown type")
NOT_IN_STATE: Final = Code("FIX020", "The resource is not in the state")
DOES_NOT_RUN: Final = Code("FIX021", "The resource does not run")
OUTPUT_NOT_FOUND: Final = Code("FIX022", "There is no such output")
OUTPUT_NOT_RAW: Final = Code("FIX023", "The output is not a single text or number")
KEEPS_NO_EARLIER_STATES: Final = Code("FIX024", "The resource keeps no earlier states")
TABLE_IN_USE: Final = Code("FIX025", "A job that uses the table has not stopped")
ROLLBACK_NOT_CONFIRMED: Final = Code("FIX028", "The rollback is not confirmed")
WRONG_USAGE: Final = Code("FIX029", "Wrong usage")
FILE_NOT_WRITTEN: Final = Code("FIX030", "The file cannot be written")
PLAN_FILE_UNREADABLE: Final = Code("FIX031", "The plan file cannot be read")
NOT_A_PLAN_FILE: Final = Code("FIX032", "The file cannot be used as a plan")
OUTPUT_NOT_WRITTEN: Final = Code("FIX033", "Standard output cannot be written")
NOT_A_CHECKPOINT: Final = Code("FIX034", "The resource is not a checkpoint")
INVALID_ADDRESS: Final = Code("FIX040", "Invalid address")
ALREADY_IN_STATE: Final = Code("FIX041", "The resource is already in the state")
IMPORT_TARGET_NOT_DECLARED: Final = Code("FIX042", "The instance to import is not declared")
NOTHING_CAN_IMPORT: Final = Code("FIX043", "No provider can import")
IMPORT_OF_ANOTHER_KIND: Final = Code("FIX044", "The object cannot be imported as this resource")
FILE_WOULD_NOT_BE_READ: Final = Code("FIX045", "The file would not be read as configuration")
FILE_EXISTS: Final = Code("FIX046", "The file already exists")
SECRET_UNAVAILABLE: Final = Code("FIX050", "A secret is not available")
SECRET_WRITTEN_OUT: Final = Code("FIX052", "A setting must not hold a secret")
SECRET_IN_CLEAR_TEXT: Final = Code("FIX053", "A setting must not be a secret")
CANNOT_BE_REVIVED: Final = Code("FIX060", "The resource cannot be brought back")
NOT_KNOWN_AS_DROPPED: Final = Code("FIX061", "No such dropped resource")
NOT_DROPPED: Final = Code("FIX062", "The resource is not dropped")
BUG: Final = Code("FIX099", "This is a bug in FlareIaC")

# Codes of the configuration: FIC
DATA_DOES_NOT_EXIST: Final = Code("FIC060", "The object of a data block does not exist")
