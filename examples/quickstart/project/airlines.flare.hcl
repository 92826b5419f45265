# The names of the airlines: a small table that a batch job fills as a whole.

table "airlines" {
  catalog   = catalog.lake
  namespace = "demo"
  column "carrier" { type = "string not null" }
  column "name" { type = "string" }
  identifier = ["carrier"]
}

job "airlines" {
  engine = engine.local
  mode   = "batch"
  input "source" {
    files {
      path    = "landing/airlines"
      format  = "json"
      columns = { carrier = "string", name = "string" }
    }
  }
  step "named" {
    sql = "SELECT carrier, trim(name) AS name FROM source"
  }
  output "airlines" {
    table = table.airlines
    mode  = "overwrite"
  }
}
