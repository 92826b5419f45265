"""The codes of the Kafka provider: an id and a title each, once. ``codes.md`` explains them. Pure."""

from typing import Final

from flareiac.kernel.codes import Code

# Codes of connections
INVALID_BOOTSTRAP_SERVERS: Final = Code("FIT001", "Invalid bootstrap servers")
UNUSABLE_CLIENT_OPTION: Final = Code("FIT002", "This option of the Kafka client cannot be set")
SECURITY_CONTRADICTION: Final = Code("FIT003", "The security settings contradict each other")
INCOMPLETE_SASL: Final = Code("FIT004", "The SASL settings are incomplete")
INCOMPLETE_TLS: Final = Code("FIT005", "The TLS settings are incomplete")
INVALID_REGISTRY_URL: Final = Code("FIT006", "Invalid URL of a schema registry")
UNKNOWN_CLIENT_OPTION: Final = Code("FIT008", "Kafka's client does not know this option")
REGISTRY_CREDENTIALS: Final = Code("FIT007", "The credentials of the schema registry are incomplete")

# Codes of clusters
CLUSTER_UNREACHABLE: Final = Code("FIT010", "The Kafka cluster cannot be reached")
AUTHENTICATION_FAILED: Final = Code("FIT011", "The Kafka cluster refuses the login")
TLS_FAILED: Final = Code("FIT012", "No TLS connection to the Kafka cluster")
NOT_AUTHORIZED: Final = Code("FIT013", "The Kafka cluster does not allow it")
CLUSTER_UNREADABLE: Final = Code("FIT014", "The Kafka cluster gave no usable answer")
SETTING_FOR_JAVA_ONLY: Final = Code("FIT015", "Only Java can use this setting")
CLIENT_NOT_OPENED: Final = Code("FIT016", "A setting of the Kafka client cannot be used")
INVALID_TOPIC_PATTERN: Final = Code("FIT017", "The pattern of topics cannot be read")
TOPIC_PATTERN_OF_JAVA: Final = Code("FIT040", "Only Java can read the pattern of topics")

# Codes of topics
NO_CONNECTION: Final = Code("FIT020", "No Kafka cluster to use")
INVALID_TOPIC_NAME: Final = Code("FIT021", "Invalid name of a topic")
NAMES_COLLIDE: Final = Code("FIT022", "Two topics have the same name in Kafka's metrics")
CONNECTION_NOT_DECLARED: Final = Code("FIT023", "The cluster of a recorded topic is not declared")
IMPORT_ID_DIFFERS: Final = Code("FIT024", "The import id names another topic than the block")
NOT_ADOPTED: Final = Code("FIT025", "The topic exists already and is not in the state")
RECREATED_ELSEWHERE: Final = Code("FIT026", "The topic was deleted and created again outside of FlareIaC")
OTHER_CLUSTER: Final = Code("FIT027", "The connection leads to another cluster")
TOPIC_RENAMED: Final = Code("FIT028", "A topic cannot be renamed")
FEWER_PARTITIONS: Final = Code("FIT029", "A topic cannot have fewer partitions")
REPLICATION_CHANGED: Final = Code("FIT030", "The replication factor of a topic cannot change like this")
CHANGE_REFUSED: Final = Code("FIT031", "The Kafka cluster refused a change")
CHANGE_NOT_CONFIRMED: Final = Code("FIT032", "The Kafka cluster did not confirm a change")
TOPIC_CHANGED_MEANWHILE: Final = Code("FIT033", "The topic changed after the plan was made")
TOPIC_MANAGED_ELSEWHERE: Final = Code("FIT035", "Another state manages the topic")
MARK_DECLARED: Final = Code("FIT036", "The mark of a topic is not a setting to declare")
IMPORT_PATTERN_UNCLEAR: Final = Code("FIT034", "The pattern names no topics of a declared cluster")
