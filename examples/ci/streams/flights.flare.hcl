# A project with a stream, of which nothing is on a disk of its own: state, control directory, checkpoint and warehouse are in
# S3, the catalog in PostgreSQL.

flareiac {
  backend "s3" {
    bucket = "company-flareiac"
    prefix = "flights"
    region = "eu-central-1"
  }
}

variable "catalog_uri" { type = string }
variable "landing" { type = string }

secret "catalog_user" { env = "PGUSER" }
secret "catalog_password" { env = "PGPASSWORD" }

catalog "lake" {
  uri        = var.catalog_uri
  warehouse  = "s3://company-lake/warehouse"
  credential = secret.catalog_password
  properties = {
    "s3.region" = "eu-central-1"
    "jdbc.user" = secret.catalog_user
  }
}

engine "streams" {
  master           = "local[2]"
  runtime_location = "s3://company-flareiac/runtime/${flareiac.workspace}"
  idle_shutdown    = "1h"
  driver           = { memory = "1g" }
  conf             = { "spark.sql.shuffle.partitions" = "1" }
}

namespace "air" {}

stream "departures" {
  files {
    path                  = var.landing
    format                = "json"
    max_files_per_trigger = 5
  }
  column "flight_id" { type = "long" }
  column "scheduled_departure" { type = "timestamptz" }
  column "carrier" { type = "string" }
  column "distance" { type = "long" }
}

table "departures" {
  namespace = namespace.air
  column "flight_id" { type = "long" }
  column "scheduled_departure" { type = "timestamptz" }
  column "carrier" { type = "string" }
  column "distance" { type = "long" }
  partition_by = [month("scheduled_departure")]
  properties   = { "company.owner" = "team-0" }

  compaction {
    run_if = { small_files_over = 10 }
  }
}
table "carriers" {
  namespace = namespace.air
  column "carrier" { type = "string" }
  column "flights" { type = "long" }
  column "distance" { type = "long" }
}

checkpoint "departures" { location = "s3://company-flareiac/checkpoints/${flareiac.workspace}/departures" }
checkpoint "carriers" { location = "s3://company-flareiac/checkpoints/${flareiac.workspace}/carriers" }

job "departures" {
  checkpoint = checkpoint.departures
  trigger    = { processing_time = "2s" }
  input "departures" { stream = stream.departures }
  step "all" { sql = "SELECT flight_id, scheduled_departure, carrier, distance FROM departures" }
  output "departures" { table = table.departures }
}
job "carriers" {
  checkpoint = checkpoint.carriers
  trigger    = { processing_time = "2s" }
  input "departures" { stream = stream.departures }
  step "counted" { sql = "SELECT carrier, count(*) AS flights, sum(distance) AS distance FROM departures GROUP BY carrier" }
  output "carriers" {
    table = table.carriers
    mode  = "complete"
  }
}
