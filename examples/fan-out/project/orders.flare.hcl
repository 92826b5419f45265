# Orders arrive in a topic. One micro-batch writes all of them to a table, the large ones to another, and these to a topic.

topic "orders" {
  kafka              = kafka.main
  partitions         = 3
  replication_factor = 1
}

topic "alerts" {
  kafka              = kafka.main
  partitions         = 1
  replication_factor = 1
}

stream "orders" {
  kafka {
    topic                   = topic.orders
    format                  = "json"
    max_offsets_per_trigger = 2000
  }
  column "order_id" { type = "long not null" }
  column "customer" { type = "string" }
  column "amount" { type = "decimal(12,2)" }
  bad_records = { quarantine = table.unreadable }
}

table "orders" {
  catalog   = catalog.lake
  namespace = "demo"
  column "order_id" { type = "long not null" }
  column "customer" { type = "string" }
  column "amount" { type = "decimal(12,2)" }
}

table "large_orders" {
  catalog   = catalog.lake
  namespace = "demo"
  column "order_id" { type = "long not null" }
  column "amount" { type = "decimal(12,2)" }
}

table "unreadable" {
  catalog   = catalog.lake
  namespace = "demo"
  column "raw" { type = "string" }
  column "error" { type = "string" }
  column "topic" { type = "string" }
  column "partition" { type = "int" }
  column "offset" { type = "long" }
}

checkpoint "orders" {}

job "orders" {
  engine        = engine.local
  checkpoint    = checkpoint.orders
  foreach_batch = true
  trigger       = { processing_time = "1s" }
  restart       = { backoff = "1s" }
  input "orders" { stream = stream.orders }
  step "known" { sql = "SELECT order_id, customer, amount FROM orders" }
  step "large" { sql = "SELECT order_id, amount FROM known WHERE amount >= 900" }
  output "orders" {
    from  = "known"
    table = table.orders
  }
  output "large_orders" {
    from  = "large"
    table = table.large_orders
  }
  output "alerts" {
    from = "large"
    kafka {
      topic = topic.alerts
      key   = "order_id"
    }
  }
}
