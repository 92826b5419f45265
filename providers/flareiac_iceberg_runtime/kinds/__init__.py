"""The performers: a package for each kind of maintenance. Kinds know nothing of each other."""
