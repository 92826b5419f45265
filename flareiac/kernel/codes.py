"""The codes of diagnostics: an id and a title each, once. Pure.

The table of the core stands here; each provider keeps a ``codes`` module of its own. What a code means at
length stands in its page.
"""

from types import ModuleType
from typing import Final, NamedTuple


class Code(NamedTuple):
    """One kind of diagnostic. The ``id`` never changes its meaning; the ``title`` is fixed and holds no data
    of the user.
    """

    id: str
    title: str


class CodeTable(NamedTuple):
    """The codes that one package uses, and the Markdown files that explain them: ``package`` is where the
    files are.
    """

    codes: tuple[Code, ...]
    package: str
    folder: str = ""
    """Empty: the pages are the one file ``codes.md`` of the package. Otherwise: all Markdown files of this
    folder.
    """


def code_table(module: ModuleType, *, package: str | None = None, folder: str = "") -> CodeTable:
    """The codes that a module defines as constants. The pages belong to the module's own package unless
    stated otherwise.
    """
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
STATE_PLACE_UNFIT: Final = Code("FIS040", "The place cannot keep a state safely")
INVALID_BACKEND_SETTING: Final = Code("FIS041", "Invalid setting of the state backend")
RESULTS_IN_EMERGENCY_FILE: Final = Code("FIS080", "Results could not be written to the state")
EMERGENCY_FILE_UNREADABLE: Final = Code("FIS082", "The emergency file cannot be read")
EMERGENCY_FILE_CONTRADICTS: Final = Code("FIS083", "The emergency file does not fit the state")
CANNOT_BE_PUSHED: Final = Code("FIS084", "The state to push does not follow the one that is there")
NOT_A_STATE_FILE: Final = Code("FIS085", "The file cannot be used as a state")
NO_SUCH_HISTORY: Final = Code("FIS086", "No such earlier state")
CANNOT_BE_MOVED: Final = Code("FIS087", "The resource cannot get this address")
STILL_AT_WORK: Final = Code("FIS088", "The resource is at work")
STILL_REFERRED_TO: Final = Code("FIS089", "Other recorded resources refer to it")
LOCK_NOT_RELEASED: Final = Code("FIS090", "The state lock was not released")
INVALID_ENCRYPTION: Final = Code("FIS091", "Invalid encryption settings")
STATE_IS_ENCRYPTED: Final = Code("FIS092", "It is encrypted, and no passphrase is configured")
PASSPHRASE_UNAVAILABLE: Final = Code("FIS093", "The passphrase is not available")
WRONG_PASSPHRASE: Final = Code("FIS094", "Wrong passphrase")
UNKNOWN_BACKEND: Final = Code("FIS060", "Unknown state backend")
SEVERAL_BACKENDS: Final = Code("FIS061", "More than one backend block")
BACKEND_NOT_LITERAL: Final = Code("FIS062", "A backend setting must be a literal")
BACKEND_INCOMPLETE: Final = Code("FIS063", "The backend lacks a setting")
INVALID_BACKEND_CONFIG: Final = Code("FIS064", "Invalid -backend-config")
BACKEND_CHANGED: Final = Code("FIS065", "The state backend was changed")
STATE_NOT_MOVED: Final = Code("FIS066", "The local state was not moved to the backend")
STATE_GONE: Final = Code("FIS067", "The state is gone")
ANOTHER_STATE: Final = Code("FIS068", "Another state is in this place")
STATE_MOVED: Final = Code("FIS069", "The state was moved")
MOVE_REFUSED: Final = Code("FIS070", "The state cannot be moved there")
BACKEND_RECORD_UNREADABLE: Final = Code("FIS071", "The record of the backend cannot be read")
NO_SUCH_WORKSPACE: Final = Code("FIS072", "There is no such workspace")
WORKSPACE_EXISTS: Final = Code("FIS073", "The workspace exists already")
WORKSPACE_KEPT: Final = Code("FIS074", "The workspace cannot be deleted")
WORKSPACE_BY_VARIABLE: Final = Code("FIS075", "FLAREIAC_WORKSPACE names the workspace")
PLAN_OF_ANOTHER_PLACE: Final = Code("FIS076", "The plan belongs to another backend or workspace")
PLAN_OF_ANOTHER_VERSION: Final = Code("FIS077", "The plan was made with another version")
PLAN_OF_OTHER_INPUTS: Final = Code("FIS078", "The plan was made with other inputs")
OTHER_STATE_UNREACHABLE: Final = Code("FIS100", "The state of another project cannot be reached")
OTHER_STATE_UNREADABLE: Final = Code("FIS101", "The state of another project cannot be read")
NO_OTHER_STATE: Final = Code("FIS102", "There is no state of another project in this place")
OTHER_STATE_MOVED: Final = Code("FIS103", "The state of another project was moved")
OTHER_STATE_ENCRYPTED: Final = Code("FIS104", "The state of another project cannot be decrypted")
INVALID_STATE_OWNER: Final = Code("FIS107", "Invalid state_owner")
STATE_OF_ANOTHER_ENVIRONMENT: Final = Code("FIS108", "The state belongs to another environment")
INVALID_PROTECTION: Final = Code("FIS110", "Invalid protection of a workspace")
WORKSPACE_PROTECTED: Final = Code("FIS111", "The workspace is protected")
APPROVAL_MISSING: Final = Code("FIS112", "Who approved the plan is not said")
NO_OTHER_OUTPUT: Final = Code("FIS105", "The other project has no such output")
OTHER_OUTPUT_SENSITIVE: Final = Code("FIS106", "The value of a sensitive output is in no state")

# Codes of planning: FIP
NO_ANSWER: Final = Code("FIP001", "No answer about a resource")
NOT_PLANNED: Final = Code("FIP002", "A resource was not planned")
APPLY_INTERRUPTED: Final = Code("FIP003", "The last apply was interrupted")
JOURNAL_CUT_OFF: Final = Code("FIP004", "The last record of the journal was cut off")
READING_FAILED: Final = Code("FIP005", "Reading a resource failed unexpectedly")
COMMAND_RUNNING: Final = Code("FIP006", "Another command is running")
SAME_OBJECT: Final = Code("FIP010", "Two resources are the same object")
SAME_LOCATION: Final = Code("FIP012", "Two resources own the same location")
RIVAL_WRITERS_REPLACE: Final = Code(
    "FIP013", "Two writers of one table, and one of them replaces all its rows"
)
RIVAL_WRITERS_CHANGE: Final = Code(
    "FIP014", "Two writers of one table, and one of them changes rows of the other"
)
PROMISE_BROKEN: Final = Code("FIP020", "The provider returned a wrong plan")
PREVENT_DESTROY: Final = Code("FIP021", "The resource is protected from destruction")
TOO_MANY_DESTROYED: Final = Code("FIP022", "The plan destroys more than -max-destroys allows")
OPERATION_CYCLE: Final = Code("FIP023", "The operations wait for each other in a circle")
NO_SUCH_RESOURCE: Final = Code("FIP024", "No resource matches this address")
MAINTENANCE_NOT_KNOWN: Final = Code("FIP030", "The maintenance that is due is not known")
MAINTENANCE_LEFT_OUT: Final = Code("FIP031", "The maintenance of a resource is left out")
LOOKS_RELABELLED: Final = Code("FIP032", "A resource looks like another one under a new label")
RULE_NOT_MET: Final = Code("FIP040", "A rule of the team is not met")
RULE_NOT_KNOWN: Final = Code("FIP041", "The answer of a rule is not known")
RULE_READS_SENSITIVE: Final = Code("FIP042", "A rule reads what is sensitive")
NO_POLICIES: Final = Code("FIP043", "There are no policies to check")
EXCEPTION_EXPIRED: Final = Code("FIP045", "An exception of a rule has expired since the plan")
PLAN_NOT_CHECKED: Final = Code("FIP044", "A plan with errors cannot be checked")

# Codes of applying: FIA
PLAN_OF_ANOTHER_STATE: Final = Code("FIA001", "The plan belongs to another state")
PLAN_STALE: Final = Code("FIA002", "The plan is stale")
STATE_LOCK_LOST: Final = Code("FIA010", "The state lock was lost")
FINAL_STATE_NOT_WRITTEN: Final = Code("FIA012", "The final state could not be written")
PROVIDER_FAILED: Final = Code("FIA013", "The provider failed unexpectedly")
MAINTENANCE_WITHOUT_PERFORMER: Final = Code("FIA021", "Nothing can carry out the maintenance")
RESOURCE_GONE: Final = Code("FIA022", "The resource no longer exists")

# Codes of commands, the installation and secrets: FIX
NAME_OFFERED_TWICE: Final = Code("FIX010", "Two packages offer the same name")
STATE_BACKEND_NOT_INSTALLED: Final = Code("FIX011", "The state backend is not installed")
PROVIDER_NOT_INSTALLED: Final = Code("FIX012", "The provider is not installed")
VARIABLE_ARGUMENT_WITHOUT_VALUE: Final = Code("FIX013", "A -var option has no value")
UNKNOWN_RECORDED_TYPE: Final = Code("FIX014", "The state holds a resource of an unknown type")
NOT_IN_STATE: Final = Code("FIX020", "The resource is not in the state")
DOES_NOT_RUN: Final = Code("FIX021", "The resource does not run")
OUTPUT_NOT_FOUND: Final = Code("FIX022", "There is no such output")
OUTPUT_NOT_RAW: Final = Code("FIX023", "The output is not a single text or number")
WRONG_USAGE: Final = Code("FIX029", "Wrong usage")
FILE_NOT_WRITTEN: Final = Code("FIX030", "The file cannot be written")
PLAN_FILE_UNREADABLE: Final = Code("FIX031", "The plan file cannot be read")
NOT_A_PLAN_FILE: Final = Code("FIX032", "The file cannot be used as a plan")
OUTPUT_NOT_WRITTEN: Final = Code("FIX033", "Standard output cannot be written")
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
PACKAGE_NOT_INSTALLED: Final = Code("FIX065", "A Python package is not installed")
GRAMMAR_NOT_KNOWN: Final = Code("FIX067", "The grammar of python-hcl2 is not known")
NO_EXPLANATION: Final = Code("FIX070", "There is no explanation of this name")
BUG: Final = Code("FIX099", "This is a bug in FlareIaC")

# Codes of the language: FIL
INVALID_SYNTAX: Final = Code("FIL001", "Invalid syntax")
INVALID_CHARACTER: Final = Code("FIL002", "Invalid character")
UNEXPECTED_BRACKET: Final = Code("FIL003", "Unexpected closing bracket")
UNTERMINATED_STRING: Final = Code("FIL004", "Unterminated string")
INVALID_HEREDOC: Final = Code("FIL005", "Invalid heredoc")
INVALID_ESCAPE: Final = Code("FIL006", "Invalid escape sequence")
UNTERMINATED_COMMENT: Final = Code("FIL007", "Unterminated comment")
UNCLOSED_BRACKET: Final = Code("FIL008", "Unclosed bracket")
INVALID_DIRECTIVE: Final = Code("FIL009", "Invalid template directive")
TOO_DEEP: Final = Code("FIL010", "Expression too long or nested too deeply")
MISSING_NEWLINE: Final = Code("FIL011", "Missing newline or separator")
NUMBER_OUT_OF_RANGE: Final = Code("FIL012", "Number out of range")
INVALID_BLOCK: Final = Code("FIL013", "Invalid block definition")
ATTRIBUTE_SET_TWICE: Final = Code("FIL014", "Attribute set twice")
AMBIGUOUS_KEY: Final = Code("FIL015", "Ambiguous key of an object item")
UNSUPPORTED_INDEX: Final = Code("FIL016", "Unsupported index or splat")
UNKNOWN_SYMBOL: Final = Code("FIL101", "Unknown symbol")
UNSUPPORTED_ATTRIBUTE: Final = Code("FIL102", "Unsupported attribute")
ACCESS_TO_NULL: Final = Code("FIL103", "Null has no attributes or elements")
INVALID_INDEX: Final = Code("FIL104", "Invalid index")
INVALID_OPERAND: Final = Code("FIL105", "Invalid operand")
INCONSISTENT_CONDITIONAL: Final = Code("FIL106", "Inconsistent results of a conditional")
INVALID_CONDITION: Final = Code("FIL107", "Invalid condition")
INVALID_KEY: Final = Code("FIL108", "Invalid key of an object item")
INVALID_ITERATION: Final = Code("FIL109", "A for expression cannot iterate over this value")
DUPLICATE_KEY: Final = Code("FIL110", "Duplicate object key")
INVALID_TEMPLATE_VALUE: Final = Code("FIL111", "A template has no text for this value")
TEXT_TOO_LONG: Final = Code("FIL112", "The text is too long")
VALUE_TOO_LARGE: Final = Code("FIL113", "The value is too large")
UNKNOWN_FUNCTION: Final = Code("FIL120", "Unknown function")
WRONG_ARGUMENT_COUNT: Final = Code("FIL121", "Wrong number of arguments")
NOTHING_TO_TRY: Final = Code("FIL122", "No argument of try() could be evaluated")
FUNCTION_FAILED: Final = Code("FIL123", "A function failed")
INVALID_ARGUMENT: Final = Code("FIL124", "Invalid argument of a function")
UNKNOWN_ATTRIBUTE: Final = Code("FIL201", "Unknown attribute")
MISSING_ATTRIBUTE: Final = Code("FIL202", "Missing attribute")
WRONG_TYPE: Final = Code("FIL203", "Wrong type")
INVALID_VALUE: Final = Code("FIL204", "Invalid value")
UNKNOWN_BLOCK: Final = Code("FIL205", "Unknown block")
MISSING_BLOCK: Final = Code("FIL206", "Missing block")
WRONG_LABELS: Final = Code("FIL207", "Wrong number of labels")
ONE_BLOCK_ALLOWED: Final = Code("FIL208", "Only one block of this type is allowed")
DUPLICATE_LABEL: Final = Code("FIL209", "Duplicate label")
CHOICE_OF_SETTINGS: Final = Code("FIL210", "Exactly one of several settings is required")
INVALID_DYNAMIC: Final = Code("FIL211", "Invalid dynamic block")
INVALID_DYNAMIC_FOR_EACH: Final = Code("FIL212", "Invalid for_each of a dynamic block")
INVALID_BLOCK_NAME: Final = Code("FIL213", "Invalid name of a block")
INVALID_TYPE: Final = Code("FIL220", "Invalid type")
INVALID_OPTIONAL_DEFAULT: Final = Code("FIL221", "Invalid default of an optional attribute")

# Codes of the configuration: FIC
NO_SUCH_DIRECTORY: Final = Code("FIC001", "There is no such directory")
NO_CONFIGURATION: Final = Code("FIC002", "No configuration files")
JSON_NOT_SUPPORTED: Final = Code("FIC003", "JSON syntax is not supported yet")
NOT_UTF8: Final = Code("FIC004", "The file is not UTF-8 text")
FILE_UNREADABLE: Final = Code("FIC005", "The file cannot be read")
FILE_NOT_READ: Final = Code("FIC006", "The file is not read")
NOT_A_PLAIN_FILE: Final = Code("FIC007", "Not a plain file")
ATTRIBUTE_OUTSIDE_BLOCK: Final = Code("FIC010", "An attribute stands outside of any block")
UNKNOWN_BLOCK_TYPE: Final = Code("FIC011", "Unknown block type")
BLOCK_NOT_SUPPORTED: Final = Code("FIC012", "This block is not supported yet")
DECLARED_TWICE: Final = Code("FIC015", "Declared twice")
UNDECLARED_VARIABLE: Final = Code("FIC021", "A value is given for a variable that is not declared")
BLOCK_IN_VARIABLE_FILE: Final = Code("FIC022", "A variable file holds no blocks")
VARIABLE_NULL: Final = Code("FIC024", "The variable must not be null")
VARIABLE_TYPE: Final = Code("FIC025", "The value does not fit the type of the variable")
VARIABLE_WITHOUT_VALUE: Final = Code("FIC026", "The variable has no value")
INVALID_VARIABLE_VALUE: Final = Code("FIC029", "The value of the variable is not valid")
INCOMPLETE_CHECK: Final = Code("FIC030", "A check has no condition or no error_message")
CONDITION_NOT_BOOL: Final = Code("FIC031", "The condition is not true or false")
VARIABLE_NOT_UTF8: Final = Code("FIC032", "The value of the variable is not UTF-8 text")
COUNT_AND_FOR_EACH: Final = Code("FIC040", "Both count and for_each are given")
INVALID_COUNT: Final = Code("FIC041", "Invalid count")
INVALID_FOR_EACH: Final = Code("FIC042", "Invalid for_each")
COUNT_NOT_KNOWN: Final = Code("FIC043", "The number of instances is known only after apply")
COUNT_TOO_LARGE: Final = Code("FIC044", "The count is too large")
NOT_DECLARED: Final = Code("FIC050", "Reference to something that is not declared")
VALUE_CYCLE: Final = Code("FIC051", "Values depend on each other in a circle")
OUTPUT_WITHOUT_VALUE: Final = Code("FIC052", "The output has no value")
PRECONDITION_FAILED: Final = Code("FIC053", "The precondition of an output does not hold")
SENSITIVE_OUTPUT: Final = Code("FIC054", "The output shows a sensitive value")
SENSITIVE_ATTRIBUTE: Final = Code("FIC055", "The attribute must not be sensitive")
KNOWN_AFTER_APPLY: Final = Code("FIC056", "The value is known only after apply")
CONNECTION_AMBIGUOUS: Final = Code("FIC057", "It is not clear which connection is meant")
DATA_DOES_NOT_EXIST: Final = Code("FIC060", "The object of a data block does not exist")
INVALID_VERSION_CONSTRAINT: Final = Code("FIC063", "Invalid version constraint")
VERSION_NOT_SATISFIED: Final = Code("FIC064", "This version of FlareIaC does not satisfy required_version")
UNKNOWN_DATA_TYPE: Final = Code("FIC065", "Unknown type of a data block")
DATA_WITH_LIFECYCLE: Final = Code("FIC066", "A data block has no lifecycle")
DATA_NOT_READ: Final = Code("FIC080", "The value of a data block was not read")
INVALID_DEPENDS_ON: Final = Code("FIC070", "Invalid depends_on")
LIFECYCLE_NOT_SUPPORTED: Final = Code("FIC072", "Not supported in a lifecycle block yet")
INVALID_IMPORT: Final = Code("FIC073", "Invalid import block")
IMPORT_TARGET_UNKNOWN: Final = Code("FIC074", "An import goes to a declared resource")
INVALID_IMPORT_ID: Final = Code("FIC075", "The id of an import is a text")
INVALID_REMOVED: Final = Code("FIC076", "Invalid removed block")
DECLARED_AND_REMOVED: Final = Code("FIC077", "The resource is both declared and removed")
INVALID_IGNORE_CHANGES: Final = Code("FIC078", "Invalid ignore_changes")
INVALID_OWNER: Final = Code("FIC079", "Invalid owner")
INVALID_RULE: Final = Code("FIC081", "Invalid rule of a policy")
INVALID_EXCEPTION: Final = Code("FIC082", "Invalid exception of a rule")
