# Debezium captures shop.public.orders of PostgreSQL. The table of the lake is what the table of the shop is.

topic "orders" {
  name               = "shop.public.orders"
  kafka              = kafka.main
  partitions         = 3
  replication_factor = 1
}

stream "orders" {
  kafka {
    topic                   = topic.orders
    format                  = "debezium_avro"
    max_offsets_per_trigger = 2000
  }
  column "id" { type = "long not null" }
  column "status" { type = "string" }
  column "total" { type = "decimal(10,2)" }
  column "placed_at" { type = "timestamp_ntz" }
  bad_records = { quarantine = table.unreadable }
}

table "orders" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
  column "status" { type = "string" }
  column "total" { type = "decimal(10,2)" }
  column "placed_at" { type = "timestamp_ntz" }
  column "change_position" { type = "string" }
}

# Deleted orders are remembered, so that an old change cannot bring one back.
table "orders_deleted" {
  catalog   = catalog.lake
  namespace = "demo"
  column "id" { type = "long" }
  column "change_position" { type = "string" }
}

table "unreadable" {
  catalog   = catalog.lake
  namespace = "demo"
  column "raw" { type = "binary" }
  column "error" { type = "string" }
  column "partition" { type = "int" }
  column "offset" { type = "long" }
}

checkpoint "orders" {}

job "orders" {
  engine     = engine.local
  checkpoint = checkpoint.orders
  trigger    = { processing_time = "1s" }
  input "changes" { stream = stream.orders }
  step "rows" { sql = "SELECT id, status, total, placed_at, change_op, change_position FROM changes" }
  output "orders" {
    table = table.orders
    mode  = "merge"
    merge = {
      on         = ["id"]
      latest_by  = "change_position"
      delete_if  = "s.change_op = 'd'"
      tombstones = table.orders_deleted
    }
  }
}
