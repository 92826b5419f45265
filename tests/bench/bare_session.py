"""Starts Spark with an empty session, and ends it: ``python bare_session.py SETTINGS.json``."""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def main(settings_file: str) -> None:
    """Makes a session and one beside it, as a driver does."""
    settings = json.loads(Path(settings_file).read_text())
    spark = SparkSession.builder.appName("bare").config(map=settings["conf"]).getOrCreate()
    spark.newSession().sql("SELECT 1").schema.simpleString()
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
