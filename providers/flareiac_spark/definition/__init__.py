"""What a job is: its schema, its canonical attributes, its code, the spec that the application runs."""
