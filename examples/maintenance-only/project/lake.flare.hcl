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

table "measurements" {
  namespace = "plant"

  compaction {
    run_if = { small_files_over = 10 }
  }
  snapshot_expiry {
    older_than  = "1ms" # for this example; days in earnest
    retain_last = 2
  }
}

import {
  to = table.measurements
  id = "lake.plant.measurements"
}
