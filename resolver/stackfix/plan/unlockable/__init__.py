"""Projects that uv cannot lock: what clashes, and where a move starts all the same."""
