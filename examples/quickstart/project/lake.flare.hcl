# Where everything lives: one catalog, one local Spark application, one stream of files.

catalog "lake" {
  type      = "sql"
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}

engine "local" {
  type             = "local"
  master           = "local[2]"
  runtime_location = "runtime"
  driver           = { memory = "1g" }
  conf             = { "spark.sql.shuffle.partitions" = "2" }
}

# One JSON file for each day of flights. Times are UTC; a cancelled flight has no dep_time.
stream "flights" {
  files {
    path                  = "landing/flights"
    format                = "json"
    max_files_per_trigger = 25
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
  watermark = { column = "scheduled_departure", delay = "2d" }
}
