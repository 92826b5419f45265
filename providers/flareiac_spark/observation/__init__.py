"""The observed facts of jobs and checkpoints that planners read."""
