# Where everything is: state, control directory, checkpoints and warehouse in S3, the catalog in PostgreSQL. Nothing is on a disk
# of any of the hosts.

flareiac {
  backend "s3" {
    bucket = "company-flareiac"
    prefix = "flights"
    region = "eu-central-1"
  }
}

variable "catalog_uri" { type = string }
variable "bootstrap_servers" { type = string }
variable "master" { type = string }

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

kafka "main" {
  bootstrap_servers = var.bootstrap_servers
}

# The operators run its driver: flareiac driver -wait s3://company-flareiac/runtime/default
engine "cluster" {
  type             = "external"
  master           = var.master
  runtime_location = "s3://company-flareiac/runtime/${flareiac.workspace}"
  executor         = { instances = 2, cores = 1, memory = "512m" }
  driver           = { memory = "768m" }
  conf = {
    "spark.driver.host"               = "127.0.0.1"
    "spark.sql.shuffle.partitions"    = "2"
    "spark.driver.extraJavaOptions"   = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    "spark.executor.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
  }
}

namespace "air" {}
