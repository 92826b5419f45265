"""Change events of Debezium: how a row of the captured table, its operation and its position are read from an
envelope of JSON or Avro.
"""
