# Delays by hour and carrier: a windowed aggregation, appended once an hour is certain to be complete.

table "delays_per_hour" {
  catalog   = catalog.lake
  namespace = "demo"
  column "hour_start" { type = "timestamptz" }
  column "carrier" { type = "string" }
  column "flights" { type = "long" }
  column "cancelled" { type = "long" }
  column "delayed" { type = "long" }
  column "mean_departure_delay" { type = "double" }
  column "delay_minutes" { type = "long" }
  partition_by = [month("hour_start")]
}

checkpoint "delays" {}

job "delays" {
  engine     = engine.local
  checkpoint = checkpoint.delays
  trigger    = { processing_time = "5s" }
  input "flights" { stream = stream.flights }
  step "hourly" {
    # The condition is on the watermark's column on purpose: Spark applies one on another column before it looks at the time, and
    # the feeder's last row, far in the future, would then not close the last hours.
    sql = <<-SQL
      SELECT carrier, window(scheduled_departure, '1 hour').start AS hour_start, count(*) AS flights,
             count_if(dep_time IS NULL) AS cancelled, count_if(dep_delay > 15) AS delayed, avg(dep_delay) AS mean_departure_delay,
             max(CAST(dep_delay AS BIGINT)) AS delay_minutes
      FROM flights
      WHERE scheduled_departure < TIMESTAMP '2100-01-01 00:00:00 UTC'
      GROUP BY carrier, window(scheduled_departure, '1 hour')
    SQL
  }
  output "delays_per_hour" { table = table.delays_per_hour }
}
