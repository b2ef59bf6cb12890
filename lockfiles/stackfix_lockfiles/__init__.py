"""uv.lock and pyproject.toml: read, walk, edit, relock, commit. Knows no GPU."""
