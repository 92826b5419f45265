# What is new has an owner.
package main

import rego.v1

deny contains msg if {
	some resource in input.resource_changes
	"create" in resource.change.actions
	not resource.change.flareiac.owner
	msg := sprintf("%s has no owner", [resource.address])
}
