# The built-in rules. Each reads the names of a plan (policy_names.py) and its own parameters (param).

built_in "destructive_change" {
  description = "Nothing is destroyed, and nothing that stays loses data or state."
  condition   = !contains(change.actions, "delete")
  message     = "${change.address}: ${change.what}"
}

built_in "data_loss_without_consent" {
  description = "Data that a consumer reads is lost only where the consumer has agreed."
  parameter "agreed" {
    type        = map(list(string))
    description = "The addresses that may lose data, by the consumer that has agreed to it."
    default     = {}
  }
  when = change.action == "delete" || change.action == "replace" || contains(change.steps[*].effect, "loses data")
  condition = alltrue([
    for reader in change.readers : contains(try(param.agreed[reader.address], []), change.address)
    if !startswith(reader.address, "job.")
  ])
  message = "${change.address} loses data that ${join(", ", [
    for reader in change.readers : reader.owner == "" ? reader.address : "${reader.address} (${reader.owner})"
    if !startswith(reader.address, "job.") && !contains(try(param.agreed[reader.address], []), change.address)
  ])} has not agreed to lose"
}

built_in "state_reset" {
  description = "No checkpoint begins a new generation, which leaves the state of its query behind."
  condition   = !contains(change.steps[*].effect, "new generation")
  message     = "${change.address} leaves its state behind: ${join("; ", [for step in change.steps : step.text if step.effect == "new generation"])}"
}

built_in "result_change" {
  description = "No running query goes on with state that was computed by another definition."
  condition   = !contains(change.steps[*].effect, "results change")
  message     = "${change.address} mixes results: ${join("; ", [for step in change.steps : step.text if step.effect == "results change"])}"
}

built_in "unbounded_state" {
  description = "The state of a streaming query does not grow without bound."
  types       = ["job"]
  condition   = !anytrue([for complaint in resource.complaints : contains(["FIK041", "FIK042"], complaint.code)])
  message     = "${resource.address}: ${join(" ", [for complaint in resource.complaints : complaint.detail if contains(["FIK041", "FIK042"], complaint.code)])}"
}

built_in "table_without_expiry" {
  description = "Every table expires its snapshots."
  types       = ["table"]
  condition   = resource.values.snapshot_expiry != null
  message     = "${resource.address} keeps every snapshot: it has no snapshot_expiry block"
}

built_in "trigger_too_small" {
  description = "A query that writes an Iceberg table commits no more often than its metadata bears."
  types       = ["job"]
  parameter "minimum" {
    type        = string
    description = "The shortest interval between two batches."
    default     = "1m"
  }
  when = try(resource.values.mode, "stream") == "stream" && anytrue([for output in values(resource.values.outputs) : try(output.table, null) != null])
  condition = (
    contains(["available_now", "once"], resource.values.trigger.kind)
    || try(resource.values.trigger.interval_ms >= duration(param.minimum), false)
  )
  message = "${resource.address} commits every ${resource.values.trigger.interval_ms == null ? "batch, one after the other" : "${resource.values.trigger.interval_ms / 1000} s"}, and ${param.minimum} is the least: each commit adds files and a snapshot"
}

built_in "naming_pattern" {
  description = "Names match a pattern."
  parameter "pattern" {
    type        = string
    description = "A regular expression (RE2) that is looked for in the real name, or in the label where there is no other name. Letters of both cases differ."
  }
  condition = length(regexall(param.pattern, try(resource.values.name, null) == null ? resource.name : resource.values.name)) > 0
  message   = "The name ${try(resource.values.name, null) == null ? resource.name : resource.values.name} of ${resource.address} does not match ${param.pattern}"
}

built_in "minimum_partitions" {
  description = "Every topic says how many partitions and copies it has, and has enough of both."
  types       = ["topic"]
  parameter "partitions" {
    type        = number
    description = "The least number of partitions."
    default     = 1
  }
  parameter "replication_factor" {
    type        = number
    description = "The least number of copies of each partition."
    default     = 3
  }
  condition = (
    try(resource.values.partitions >= param.partitions, false)
    && try(resource.values.replication_factor >= param.replication_factor, false)
  )
  message = "${resource.address} has ${try(tostring(resource.values.partitions), null) == null ? "the cluster's number of" : resource.values.partitions} partitions and ${try(tostring(resource.values.replication_factor), null) == null ? "the cluster's number of" : resource.values.replication_factor} copies; ${param.partitions} and ${param.replication_factor} are the least"
}

built_in "owner_required" {
  description = "Every resource has an owner, its own or that of the project."
  condition   = resource.owner != null
  message     = "${resource.address} has no owner"
}

built_in "consumer_owner_required" {
  description = "Every consumer has an owner."
  condition   = consumer.owner != null
  message     = "${consumer.address} has no owner who could be asked before what it reads changes"
}

built_in "comment_required" {
  description = "Every table has a comment."
  types       = ["table"]
  parameter "columns" {
    type        = bool
    description = "Every column has one, too."
    default     = false
  }
  condition = (
    trimspace(resource.values.comment == null ? "" : resource.values.comment) != ""
    && (!param.columns || alltrue([for column in values(resource.values.columns) : trimspace(column.comment == null ? "" : column.comment) != ""]))
  )
  message = "${resource.address} lacks a comment${param.columns ? ", or one of its columns does" : ""}"
}

built_in "tagged_column" {
  description = "A job that reads a column with a tag writes tables that carry the tag, in their own tags or in those of a column."
  types       = ["job"]
  parameter "tag" {
    type        = string
    description = "The tag, as columns write it."
    default     = "pii"
  }
  when = anytrue([
    for use in resource.uses : anytrue([
      for name, column in plan.resources[use.address].values.columns :
      contains(column.tags == null ? [] : column.tags, param.tag)
      && (use.columns == null ? true : contains(use.columns, lower(name)))
    ])
    if contains(["streams from", "looks up"], use.relation) && try(plan.resources[use.address].values.columns, null) != null
  ])
  condition = alltrue([
    for use in resource.uses : (
      contains(plan.resources[use.address].values.tags == null ? [] : concat(keys(plan.resources[use.address].values.tags), values(plan.resources[use.address].values.tags)), param.tag)
      || anytrue([for column in values(plan.resources[use.address].values.columns) : contains(column.tags == null ? [] : column.tags, param.tag)])
    )
    if use.relation == "writes" && try(plan.resources[use.address].type, null) == "table"
  ])
  message = "${resource.address} reads columns tagged ${param.tag} and writes ${join(", ", [for use in resource.uses : use.address if use.relation == "writes"])}, which does not carry the tag"
}

built_in "engine_allowed" {
  description = "Jobs and the maintenance of tables run on engines of a list."
  types       = ["job", "table"]
  parameter "engines" {
    type        = list(string)
    description = "The addresses of the engines, such as engine.prod."
  }
  when      = try(resource.values.engine, null) != null
  condition = contains(param.engines, resource.values.engine)
  message   = "${resource.address} runs on ${resource.values.engine}, and only ${join(", ", param.engines)} may be used"
}
