# Data that a consumer outside of the project reads is lost only with its consent: conftest test --policy policy plan.json
package main

import rego.v1

# Who has agreed to lose what, for as long as this file says so.
agreed := {"consumer.sales_board": {"table.scratch"}}

deny contains msg if {
	some resource in input.resource_changes
	some step in resource.change.flareiac.steps
	step.effect == "loses data"
	some reader in step.readers
	not startswith(reader.address, "job.")
	not resource.address in object.get(agreed, reader.address, set())
	msg := sprintf("%s: %s, which %s reads", [resource.address, step.text, reader.address])
}
