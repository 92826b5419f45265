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
