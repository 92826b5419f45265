table "codec" {
  catalog        = catalog.lake
  namespace      = "sales"
  format_version = 2
  properties     = { "write.parquet.compression-codec" = "gzip" }
  column "id" { type = "long" }
}

import {
  to = table.codec
  id = "lake.sales.codec"
}

table "elsewhere" {
  catalog        = catalog.lake
  namespace      = "sales"
  format_version = 2
  location       = "file://ROOT/elsewhere/data"
  column "id" { type = "long" }
}

import {
  to = table.elsewhere
  id = "lake.sales.elsewhere"
}

table "events" {
  catalog        = catalog.lake
  namespace      = "sales"
  format_version = 2
  identifier     = ["id"]
  partition_by   = [day("ts"), bucket(16, "id"), truncate(4, "region", "by_region"), "region", hour("ts", "hour_of")]
  sort_by        = [desc(day("ts")), asc("id", "last")]
  column "id" {
    type    = "long not null"
    comment = "the \"key\", $${not} a template"
  }
  column "ts" { type = "timestamptz" }
  column "region" { type = "string" }
}

import {
  to = table.events
  id = "lake.sales.events"
}

table "nested" {
  catalog        = catalog.lake
  namespace      = "sales"
  format_version = 2
  column "address" {
    type    = "struct<street: string, `post code`: string not null, tags: list<string not null>>"
    comment = "where\nthey live"
  }
  column "by_name" { type = "map<string, decimal(12,2) not null>" }
  column "flags" { type = "list<boolean not null>" }
}

import {
  to = table.nested
  id = "lake.sales.nested"
}

table "odd" {
  catalog        = catalog.lake
  namespace      = "sales"
  format_version = 2
  column "he said \"hi\"" { type = "uuid" }
  column "Größe in %%{m²} \\" { type = "fixed(16)" }
  column "ta\tb" { type = "timestamp_ntz" }
  column "for" { type = "string" }
}

import {
  to = table.odd
  id = "lake.sales.odd"
}

table "plain" {
  catalog        = catalog.lake
  namespace      = "sales"
  format_version = 2
  column "id" { type = "long" }
}

import {
  to = table.plain
  id = "lake.sales.plain"
}

table "settings" {
  catalog        = catalog.lake
  namespace      = "sales"
  comment        = "orders of $${today}"
  format_version = 2
  distribution   = "hash"
  properties     = { "commit.retry.num-retries" = "7", "read.split.target-size" = "1000000" }
  tags           = { team = "a b" }
  column "id" { type = "long" }
}

import {
  to = table.settings
  id = "lake.sales.settings"
}

table "v1" {
  catalog        = catalog.lake
  namespace      = "sales"
  format_version = 1
  column "id" { type = "long" }
}

import {
  to = table.v1
  id = "lake.sales.v1"
}
