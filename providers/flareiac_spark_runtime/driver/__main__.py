"""Starts the driver."""

import sys

from flareiac_spark_runtime.driver.entry import main

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m flareiac_spark_runtime.driver CONTROL_DIR")
    sys.exit(main(sys.argv[1]))
