"""Deletes the topic and creates it again, as a colleague might: only its id tells.

python recreate.py BOOTSTRAP
"""

import sys

from examples.kafka.produce import TOPIC
from tests.support.kafka_topics import Topics


def main() -> None:
    """Returns when the new topic takes records."""
    topics = Topics(sys.argv[1])
    topics.delete(TOPIC)
    topics.create(TOPIC, partitions=6)
    print(f"{TOPIC} was deleted and created again")


if __name__ == "__main__":
    main()
