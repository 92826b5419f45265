"""Programs that others made for Terraform's plan JSON read ours."""
