"""The codes of the Iceberg provider: an id and a title each, once. ``codes.md`` explains them. Pure."""

from typing import Final

from flareiac.kernel.codes import Code
from flareiac_iceberg_runtime.codes import (
    BRANCH_RETENTION_TOO_SHORT as BRANCH_RETENTION_TOO_SHORT,
)
from flareiac_iceberg_runtime.codes import (
    FILES_OF_OTHER_TABLE as FILES_OF_OTHER_TABLE,
)
from flareiac_iceberg_runtime.codes import (
    FILES_OF_UNKNOWN_OWNER as FILES_OF_UNKNOWN_OWNER,
)
from flareiac_iceberg_runtime.codes import (
    MORE_EXPIRED_THAN_FORECAST as MORE_EXPIRED_THAN_FORECAST,
)
from flareiac_iceberg_runtime.codes import (
    MORE_ROWS_THAN_FORECAST as MORE_ROWS_THAN_FORECAST,
)
from flareiac_iceberg_runtime.codes import (
    ORPHANS_IN_USE as ORPHANS_IN_USE,
)
from flareiac_iceberg_runtime.codes import (
    ORPHANS_NOT_REMOVED as ORPHANS_NOT_REMOVED,
)
from flareiac_iceberg_runtime.codes import (
    ORPHANS_TOO_YOUNG as ORPHANS_TOO_YOUNG,
)
from flareiac_iceberg_runtime.codes import (
    PATHS_DIFFER_IN_PREFIX as PATHS_DIFFER_IN_PREFIX,
)
from flareiac_iceberg_runtime.codes import (
    REMOVAL_FORBIDDEN as REMOVAL_FORBIDDEN,
)
from flareiac_iceberg_runtime.codes import (
    ROWS_WITHOUT_AGE as ROWS_WITHOUT_AGE,
)
from flareiac_iceberg_runtime.codes import (
    SNAPSHOTS_NOT_EXPIRED as SNAPSHOTS_NOT_EXPIRED,
)

# Codes of catalogs
UNSUPPORTED_CATALOG: Final = Code("FII001", "This type of catalog is not supported")
INVALID_CATALOG_URI: Final = Code("FII002", "Invalid uri of a sql catalog")
INVALID_CATALOG_NAME: Final = Code("FII003", "Invalid name of a catalog")
INVALID_WAREHOUSE: Final = Code("FII004", "Invalid or missing warehouse")
NO_CATALOG_CHOSEN: Final = Code("FII005", "No single catalog to use")
CATALOG_UNREADABLE: Final = Code("FII010", "The catalog cannot be read")
CATALOG_NOT_WRITTEN: Final = Code("FII011", "The catalog cannot be written")
METADATA_UNREADABLE: Final = Code("FII012", "The metadata of a table cannot be read")
CATALOG_NOT_DECLARED: Final = Code("FII013", "The catalog of a recorded object is not declared")
IMPORT_ID_DIFFERS: Final = Code("FII014", "The import id names another object than the block")
NAME_IS_OF_A_VIEW: Final = Code("FII015", "A view has the name of the table")
UNKNOWN_FORMAT: Final = Code("FII016", "The format version of a table is not known")
CONTRADICTING_IDS: Final = Code("FII017", "The ids in the metadata of a table contradict each other")
VALUES_UNKNOWN: Final = Code("FII018", "A change would erase what another program wrote")
SECRET_NOT_REFERRED: Final = Code("FII100", "A secret must be named by reference")
ATTRIBUTE_OF_OTHER_CATALOGS: Final = Code("FII107", "The attribute belongs to other types of catalogs")
PROPERTIES_NOT_TEXTS: Final = Code("FII108", "The properties of a catalog must be a map of texts")
UNUSABLE_CATALOG_PROPERTY: Final = Code("FII109", "This property of a catalog cannot be set")
TOKEN_AND_CREDENTIAL: Final = Code("FII110", "Both token and credential are given")
NO_CATALOG_SERVER: Final = Code("FII111", "A rest catalog needs the address of its server")
INVALID_GLUE_NAME: Final = Code("FII112", "Glue does not accept this name")
CHANGE_NOT_CONFIRMED: Final = Code("FII113", "The catalog did not confirm a change")
NAMESPACE_OF_ANOTHER_CATALOG: Final = Code("FII114", "The namespace belongs to another catalog")

# Codes of what exists, and to whom it belongs
NOT_ADOPTED: Final = Code("FII020", "The object exists already and is not in the state")
RECREATED_ELSEWHERE: Final = Code("FII021", "The table was dropped and created again outside of FlareIaC")
NO_COLUMNS_TO_CREATE: Final = Code("FII022", "No columns to create the table with")
OTHER_CATALOG: Final = Code("FII023", "A table cannot move to another catalog")
NAMESPACE_RENAMED: Final = Code("FII025", "A namespace cannot be renamed")
RENAMED_AND_REMADE: Final = Code("FII026", "A table cannot be renamed while it is created again")
NAMESPACE_NOT_EMPTY: Final = Code("FII042", "The namespace is not empty")
NO_RENAME: Final = Code("FII077", "The catalog cannot rename tables")
NAME_TAKEN: Final = Code("FII078", "Another table or view has this name")
MANAGED_ELSEWHERE: Final = Code("FII167", "Another state manages the table")
IN_ANOTHER_COPY: Final = Code("FII166", "The files of the table are in another copy of the project")

# Codes of changes that a table does not allow
RENAME_TO_EXISTING: Final = Code("FII030", "A column cannot be renamed to one that exists")
NOT_NULL_ON_DATA: Final = Code("FII031", "A column with data cannot become not null")
REQUIRED_COLUMN_ADDED: Final = Code("FII032", "A column cannot be added as not null to a table with data")
FORMAT_DOWNGRADE: Final = Code("FII033", "The format version cannot go down")
MAP_KEY_CHANGED: Final = Code("FII034", "The key of a map cannot change")
LAYOUT_WITHOUT_COLUMN: Final = Code("FII035", "The layout of the table uses a column that would be missing")
TYPE_CHANGE: Final = Code("FII036", "The type of a column cannot change like this")
NULLABLE_IDENTIFIER: Final = Code("FII037", "An identifier column may be null")
LOCATION_CHANGED: Final = Code("FII038", "The location of a table cannot change")
COLUMN_NAMED_AS_PARTITION: Final = Code("FII039", "A partition field has the name of the new column")
HISTORY_SORTED: Final = Code("FII045", "A column of a sort order cannot be dropped")
COLUMN_IN_USE: Final = Code("FII046", "A job still uses the column")
REQUIRED_COLUMN_NOT_WRITTEN: Final = Code("FII047", "A job does not write a required column")
FILES_SHARED: Final = Code("FII048", "The files of the table may belong to others")
FILES_OUTSIDE: Final = Code("FII171", "The table has files outside of its location")
METADATA_ELSEWHERE: Final = Code("FII170", "Metadata cannot be written where the table wants it")
FILES_NOT_FOUND: Final = Code("FII049", "Not all files of the table can be found")
HISTORY_PARTITIONED: Final = Code("FII095", "A column of an earlier partition field cannot be dropped")

# Codes of what a table block says
INVALID_NAMESPACE_NAME: Final = Code("FII051", "Invalid name of a namespace")
INVALID_TABLE_NAME: Final = Code("FII052", "Invalid name of a table")
INVALID_COLUMN_TYPE: Final = Code("FII053", "Invalid type of a column")
INVALID_COLUMN_NAME: Final = Code("FII054", "Invalid name of a column")
COLUMNS_DIFFER_IN_CASE: Final = Code("FII055", "Two columns differ in case only")
INVALID_COLUMN_TAG: Final = Code("FII056", "Invalid tag of a column")
UNFIT_IDENTIFIER: Final = Code("FII057", "The column cannot identify rows")
NO_SUCH_COLUMN: Final = Code("FII059", "There is no such column")
PARTITION_FIELD_TWICE: Final = Code("FII060", "A partition field is given twice")
PARTITION_FIELD_NAME_TAKEN: Final = Code("FII061", "The name of a partition field is taken")
NOT_A_LIST: Final = Code("FII062", "The order or partitioning must be a list")
NOT_A_TERM: Final = Code("FII063", "Neither a column nor a transform of one")
UNFIT_TRANSFORM: Final = Code("FII064", "The transform does not fit the column")
RESERVED_PROPERTY: Final = Code("FII065", "This property is reserved")
PROPERTY_WITHOUT_EXPIRY: Final = Code("FII066", "The property does nothing without snapshot_expiry")
NO_SUCH_FORMAT: Final = Code("FII067", "There is no such format version")
INVALID_RENAME: Final = Code("FII068", "Invalid rename of a column")
DEFAULT_TOO_EARLY: Final = Code("FII074", "Defaults of columns need a newer format version")
UNFIT_DEFAULT: Final = Code("FII075", "The default does not fit the type of the column")
DEFAULT_UNREADABLE: Final = Code("FII076", "Spark cannot read a default of this type")
RESERVED_COLUMN_NAME: Final = Code("FII092", "The name of the column is reserved by Iceberg")
REDUNDANT_PARTITIONS: Final = Code("FII115", "Two partition fields are redundant")
TYPE_UNKNOWN_TO_SPARK: Final = Code("FII116", "Spark cannot load a table with this type of column")

# Codes of branches and tags
NAME_SHARED: Final = Code("FII080", "A branch and a tag cannot have the same name")
TAG_WITHOUT_SNAPSHOT: Final = Code("FII081", "The tag has no snapshot to name")
BRANCH_IN_USE: Final = Code("FII083", "A job still uses the branch")
INVALID_BRANCH_NAME: Final = Code("FII085", "Invalid name of a branch or tag")
INVALID_DURATION: Final = Code("FII086", "Invalid duration")
INVALID_NUMBER_KEPT: Final = Code("FII087", "Not a whole number of at least 1")

# Codes of applies
TABLE_CHANGED_MEANWHILE: Final = Code("FII040", "The table changed after the plan was made")
OTHER_WRITERS_FIRST: Final = Code("FII041", "Other writers of the table were always first")
UNLOADABLE_AFTERWARDS: Final = Code("FII094", "The change would make the table unloadable")

# Codes of rollbacks
NO_STATE_RECORDED: Final = Code("FII070", "No earlier state is recorded")
NO_SUCH_SNAPSHOT: Final = Code("FII071", "The table has no such snapshot")
WAS_EMPTY: Final = Code("FII072", "There is no earlier state with rows")
WRITTEN_MEANWHILE: Final = Code("FII073", "The table was written during the rollback")

# Codes of bringing a table back
LAST_METADATA_UNREADABLE: Final = Code("FII089", "The last metadata file of the table cannot be read")
LAST_METADATA_OF_ANOTHER: Final = Code("FII090", "The last metadata file belongs to another table")
FILES_GONE: Final = Code("FII096", "Files of the table are gone")
UNDER_ANOTHER_NAME: Final = Code("FII097", "The table is in the catalog under another name")
TWO_CONTINUATIONS: Final = Code("FII098", "Two metadata files continue the table")
CATALOG_IS_ANOTHER: Final = Code("FII099", "The catalog is another one than at the drop")

# Codes of maintenance blocks
EMPTY_CONDITIONS: Final = Code("FII131", "The run_if has no condition")
ORDER_WITHOUT_STRATEGY: Final = Code("FII132", "The order does not fit the strategy of the compaction")
UNFIT_MAINTENANCE_COLUMN: Final = Code("FII135", "The column does not fit the maintenance")
SIZES_CONTRADICT: Final = Code("FII136", "The file sizes contradict each other")
REWRITE_ALL_WITHOUT_EVERY: Final = Code("FII137", "The rewrite_all needs every")
TARGETS_DIFFER: Final = Code("FII138", "Writers and compaction aim at different sizes")
INVALID_REWRITE_OPTION: Final = Code("FII139", "Invalid option of a rewrite")
PROPERTY_NOT_FOLLOWED: Final = Code("FII140", "The snapshot_expiry does not follow this property")
NOT_A_CONDITION: Final = Code("FII141", "Not a condition on rows")
RETENTION_ENDS_READER: Final = Code("FII147", "The retention would end a streaming reader")
READER_WITHOUT_POSITION: Final = Code("FII190", "The reader needs either a checkpoint or a hold")

# Codes of what maintenance finds
MANIFEST_UNREADABLE: Final = Code("FII150", "A manifest cannot be read")
READER_STANDS_STILL: Final = Code("FII151", "A reader that stands still keeps snapshots from expiring")
NEEDED_SNAPSHOT_GONE: Final = Code("FII152", "A snapshot that a reader needs is gone")
BRANCH_OVERRIDES_HOLD: Final = Code("FII153", "The rules of a branch would expire snapshots in use")
NO_SORT_ORDER: Final = Code("FII154", "There is no order to sort by")
COLLECTION_DISABLED: Final = Code("FII157", "The property gc.enabled of the table is false")
LOCATION_SHARED: Final = Code("FII158", "The table shares its location")
NO_SUCH_PARTITION_SPEC: Final = Code("FII159", "There is no such partition spec")
NEIGHBOURS_UNKNOWN: Final = Code("FII165", "What else the catalog holds is not known")
METADATA_OF_UNKNOWN_OWNER: Final = Code("FII168", "Metadata files may be those of a copy of the table")
ROWS_CHANGED: Final = Code("FII160", "A rewrite changed the number of rows")
REWRITE_INCOMPLETE: Final = Code("FII161", "A rewrite left files as they were")
NOTHING_REWRITTEN: Final = Code("FII162", "A rewrite rewrote nothing")
TOO_MANY_EXPIRED: Final = Code("FII163", "More snapshots were removed than planned")
ROWS_OF_EARLIER_LAYOUT: Final = Code("FII199", "Rows stay in partitions of an earlier layout")
TOO_MANY_DELETED: Final = Code("FII169", "More rows were deleted than forecast")
ROWS_COME_BACK: Final = Code("FII164", "Rows that retention deletes can come back")

# Codes of imports and of looking at tables
IMPORT_PATTERN_UNCLEAR: Final = Code("FII180", "The pattern does not say which tables to import")
NOTHING_TO_IMPORT: Final = Code("FII181", "No table matches the pattern")
NO_CATALOG_YET: Final = Code("FII182", "The catalog does not exist yet")
TABLE_GONE: Final = Code("FII183", "The table is gone")

# Codes that keep the ids they had when they were the core's
KEEPS_NO_EARLIER_STATES: Final = Code("FIX024", "The resource keeps no earlier states")
TABLE_IN_USE: Final = Code("FIX025", "A job that uses the table has not stopped")
ROLLBACK_NOT_CONFIRMED: Final = Code("FIX028", "The rollback is not confirmed")

# Codes of maintenance that Spark carries out
