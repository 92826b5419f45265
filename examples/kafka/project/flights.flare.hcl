# Flights arrive in a topic as JSON. Each one is in the table once; what cannot be read is kept beside it.

topic "flights" {
  kafka              = kafka.main
  partitions         = 3
  replication_factor = 1
  config             = { "retention.ms" = "604800000" }
}

# Times are UTC; a cancelled flight has no dep_time.
stream "flights" {
  kafka {
    topic                   = topic.flights
    format                  = "json"
    key                     = "string"
    include_metadata        = true
    max_offsets_per_trigger = 20000
  }
  column "flight_id" { type = "long not null" }
  column "scheduled_departure" { type = "timestamptz" }
  column "carrier" { type = "string" }
  column "origin" { type = "string" }
  column "dest" { type = "string" }
  column "dep_time" { type = "int" }
  column "dep_delay" { type = "int" }
  bad_records = { action = "quarantine", quarantine = table.unreadable }
}

table "flights" {
  catalog   = catalog.lake
  namespace = "demo"
  column "flight_id" { type = "long not null" }
  column "scheduled_departure" { type = "timestamptz" }
  column "carrier" { type = "string" }
  column "origin" { type = "string" }
  column "destination" { type = "string" }
  column "departure_delay" { type = "int" }
  column "cancelled" { type = "boolean" }
  column "kafka_partition" { type = "int" }
  column "kafka_offset" { type = "long" }
  partition_by = [day("scheduled_departure")]
}

table "unreadable" {
  catalog   = catalog.lake
  namespace = "demo"
  column "raw" { type = "string" }
  column "error" { type = "string" }
  column "topic" { type = "string" }
  column "partition" { type = "int" }
  column "offset" { type = "long" }
}

checkpoint "flights" {}

job "flights" {
  engine     = engine.local
  checkpoint = checkpoint.flights
  trigger    = { processing_time = "2s" }
  input "flights" { stream = stream.flights }
  step "named" {
    sql = <<-SQL
      SELECT flight_id, scheduled_departure, carrier, origin, dest AS destination, dep_delay AS departure_delay,
             dep_time IS NULL AS cancelled, kafka_partition, kafka_offset
      FROM flights
    SQL
  }
  output "flights" { table = table.flights }
}
