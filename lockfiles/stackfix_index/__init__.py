"""Package indexes: which ones there are, what they list, and parts of the files they serve."""
