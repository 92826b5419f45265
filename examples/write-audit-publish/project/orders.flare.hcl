stream "orders" {
  files {
    path   = "landing"
    format = "json"
  }
  column "order_id" { type = "long" }
  column "amount" { type = "decimal(12,2)" }
}

table "orders" {
  namespace = "sales"
  column "order_id" { type = "long" }
  column "amount" { type = "decimal(12,2)" }

  branch "audit" {
    min_snapshots_to_keep = 5
  }
}

checkpoint "orders" {}

job "orders" {
  checkpoint = checkpoint.orders
  trigger    = { processing_time = "1s" }
  input "orders" { stream = stream.orders }
  step "all" { sql = "SELECT order_id, amount FROM orders" }
  output "orders" {
    table  = table.orders
    branch = "audit"
  }
}
