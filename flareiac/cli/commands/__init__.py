"""The commands: a module for each, or for those that do the same work. ``command_tree`` lists them and imports one of them."""
