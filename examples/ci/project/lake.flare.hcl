flareiac {
  backend "s3" {
    bucket = "company-flareiac"
    prefix = "lake"
    region = "eu-central-1"
  }

  # Applied is only a saved plan, and the state keeps who approved it.
  workspace "default" {
    protected             = true
    require_reviewed_plan = { approvals = "env:CI_APPROVED_BY" }
  }
}

variable "catalog_uri" {
  type = string
}

# The user is no part of the URI: a plan runs as one that may only read.
secret "catalog_user" { env = "PGUSER" }
secret "catalog_password" { env = "PGPASSWORD" }

catalog "lake" {
  uri        = var.catalog_uri
  warehouse  = "s3://company-lake/warehouse"
  credential = secret.catalog_password
  properties = {
    "s3.region" = "eu-central-1"
    "jdbc.user" = secret.catalog_user
  }
}

# Maintenance runs on the CI runner itself.
engine "runner" {
  master        = "local[2]"
  idle_shutdown = "30s"
  driver        = { memory = "768m" }
}

namespace "sales" {}
