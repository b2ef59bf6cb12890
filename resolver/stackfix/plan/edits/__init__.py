"""From a solution to edits of pyproject.toml."""
