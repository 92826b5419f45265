# Whatever destroys a resource, or loses its data or its state, says "delete" among its actions.
package main

import rego.v1

warn contains msg if {
	some resource in input.resource_changes
	"delete" in resource.change.actions
	msg := sprintf("%s: %s", [resource.address, concat("; ", [step.text | some step in resource.change.flareiac.steps])])
}

deny contains msg if {
	count([resource | some resource in input.resource_changes; "delete" in resource.change.actions]) > 3
	msg := "This plan destroys or resets more than 3 resources at once: split it."
}

# A plan with errors, of a part, or with another format of what is ours says less than these rules take for granted.
deny contains msg if {
	not startswith(input.flareiac.format_version, "1.")
	msg := sprintf("These rules know format 1 of flareiac, not %s", [input.flareiac.format_version])
}

deny contains msg if {
	not input.complete
	msg := "The plan is partial or has errors: targets or exclusions left something out."
}
