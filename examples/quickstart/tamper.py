"""A change by hand, past the declaration: sets a property of a table.

python tamper.py PROJECT TABLE KEY VALUE
"""

import sys
from pathlib import Path

from pyiceberg.exceptions import CommitFailedException

from examples.lake import Lake


def main(project: str, name: str, key: str, value: str) -> None:
    """Sets the property; a running stream that commits at the same moment makes it try again."""
    for attempt in range(20):
        try:
            with Lake(Path(project)).load_table(f"demo.{name}").transaction() as transaction:
                transaction.set_properties({key: value})
        except CommitFailedException:
            if attempt == 19:
                raise
        else:
            print(f"demo.{name}: {key} = {value}")
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
