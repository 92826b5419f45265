"""The name by which a driver of release 0.1.0 imports this kind (see ``earlier_driver``)."""

from flareiac_spark.earlier_driver import source_kind

KIND = source_kind("kafka")
