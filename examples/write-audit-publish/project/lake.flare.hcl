catalog "lake" {
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}

engine "local" {
  master           = "local[2]"
  runtime_location = "runtime"
  idle_shutdown    = "20s"
  driver           = { memory = "768m" }
  conf             = { "spark.sql.shuffle.partitions" = "1" }
}
