"""GitLab: what a merge request shows of plan.json, in the form of its reports of Terraform."""

import json
from pathlib import Path

changes = json.loads(Path("plan.json").read_text(encoding="utf-8")).get("resource_changes", [])
actions = [action for change in changes for action in change["change"]["actions"]]
print(json.dumps({name: actions.count(name) for name in ("create", "update", "delete")}))
