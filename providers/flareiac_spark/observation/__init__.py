"""What planners read of jobs and checkpoints as they were found."""
