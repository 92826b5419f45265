# Where everything lives: one catalog, one local Spark application, one Kafka cluster with a schema registry.

variable "bootstrap_servers" { type = string }
variable "registry" { type = string }

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

kafka "main" {
  bootstrap_servers = var.bootstrap_servers
  schema_registry   = { url = var.registry }
}
