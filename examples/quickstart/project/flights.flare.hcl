# Every flight once, cleaned and joined with the name of its airline.

table "flights" {
  catalog   = catalog.lake
  namespace = "demo"
  comment   = "Flights that departed from New York in 2013"
  column "flight_id" { type = "long not null" }
  column "scheduled_departure" { type = "timestamptz" }
  column "carrier" { type = "string" }
  column "airline" { type = "string" }
  column "flight_number" { type = "int" }
  column "origin" { type = "string" }
  column "destination" { type = "string" }
  column "departure_delay" { type = "int" }
  column "arrival_delay" { type = "int" }
  column "distance" { type = "int" }
  column "cancelled" { type = "boolean" }
  partition_by = [day("scheduled_departure")]
  sort_by      = [asc("scheduled_departure")]
  properties   = { "write.parquet.compression-codec" = "zstd" }
}

checkpoint "flights" {}

job "flights" {
  engine     = engine.local
  checkpoint = checkpoint.flights
  trigger    = { processing_time = "2s" }
  depends_on = [job.airlines] # a flight that came before the names would keep none
  input "flights" { stream = stream.flights }
  input "airlines" { table = table.airlines }
  step "cleaned" {
    sql = <<-SQL
      SELECT flight_id, scheduled_departure, carrier, flight AS flight_number, origin, dest AS destination,
             dep_delay AS departure_delay, arr_delay AS arrival_delay, distance, dep_time IS NULL AS cancelled
      FROM flights
      WHERE carrier IS NOT NULL
    SQL
  }
  step "named" {
    sql = <<-SQL
      SELECT c.*, a.name AS airline
      FROM cleaned c LEFT JOIN airlines a ON c.carrier = a.carrier
    SQL
  }
  output "flights" { table = table.flights }
}
