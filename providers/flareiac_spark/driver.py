"""The name by which a driver of release 0.1.0 starts itself again after an upgrade of its environment."""

import sys

from flareiac_spark_runtime.start import run_driver

if __name__ == "__main__":
    sys.exit(run_driver(sys.argv[1]))
