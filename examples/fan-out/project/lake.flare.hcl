# Where everything lives: one catalog, one local Spark application, one Kafka cluster.

variable "bootstrap_servers" {
  type        = string
  default     = "127.0.0.1:9092"
  description = "The brokers that are asked first."
}

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
}
