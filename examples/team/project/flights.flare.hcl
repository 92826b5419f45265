# Flights arrive in a topic. Each one is in a table once, and each carrier has its totals.

topic "flights" {
  partitions         = 2
  replication_factor = 1
  config             = { "retention.ms" = "604800000" }
}

stream "departures" {
  kafka {
    topic                   = topic.flights
    format                  = "json"
    max_offsets_per_trigger = 20000
  }
  column "flight_id" { type = "long" }
  column "scheduled_departure" { type = "timestamptz" }
  column "carrier" { type = "string" }
  column "flight" { type = "int" }
  column "tailnum" { type = "string" }
  column "origin" { type = "string" }
  column "dest" { type = "string" }
  column "dep_time" { type = "int" }
  column "dep_delay" { type = "int" }
  column "arr_delay" { type = "int" }
  column "distance" { type = "int" }
}

table "departures" {
  namespace = namespace.air
  column "flight_id" { type = "long" }
  column "scheduled_departure" { type = "timestamptz" }
  column "carrier" { type = "string" }
  column "origin" { type = "string" }
  column "destination" { type = "string" }
  column "departure_delay" { type = "int" }
  partition_by = [year("scheduled_departure")]
}

table "carriers" {
  namespace = namespace.air
  column "carrier" { type = "string" }
  column "flights" { type = "long" }
  column "distance" { type = "long" }
}

checkpoint "departures" { location = "s3://company-flareiac/checkpoints/${flareiac.workspace}/departures" }
checkpoint "carriers" {
  location = "s3://company-flareiac/checkpoints/${flareiac.workspace}/carriers"
}

job "departures" {
  checkpoint = checkpoint.departures
  trigger    = { processing_time = "2s" }
  input "departures" { stream = stream.departures }
  step "named" {
    sql = <<-SQL
      SELECT flight_id, scheduled_departure, carrier, origin, dest AS destination, dep_delay AS departure_delay
      FROM departures
    SQL
  }
  output "departures" { table = table.departures }
}

job "carriers" {
  checkpoint = checkpoint.carriers
  trigger    = { processing_time = "2s" }
  input "departures" { stream = stream.departures }
  step "counted" {
    sql = "SELECT carrier, count(*) AS flights, sum(CAST(distance AS BIGINT)) AS distance FROM departures GROUP BY carrier"
  }
  output "carriers" {
    table = table.carriers
    mode  = "complete"
  }
}
