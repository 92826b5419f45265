table "orders" {
  namespace = namespace.sales
  column "order_id" { type = "long not null" }
  column "ordered_at" { type = "timestamptz" }
  column "amount" { type = "decimal(12,2)" }
  partition_by = [day("ordered_at")]
  properties   = { "write.parquet.compression-codec" = "zstd" }

  compaction {
    run_if = { small_files_over = 10 }
  }
}
