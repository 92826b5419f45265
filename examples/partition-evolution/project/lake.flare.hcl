catalog "lake" {
  uri       = "sqlite:///lake/catalog.db"
  warehouse = "lake/warehouse"
}

table "visits" {
  namespace = "web"
  column "visitor" { type = "long not null" }
  column "ts" { type = "timestamptz" }
  column "page" { type = "string" }
  partition_by = [day("ts")]
}
