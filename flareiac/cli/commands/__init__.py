"""The commands: a module for each, or for those that share their work. ``command_tree`` imports one."""
