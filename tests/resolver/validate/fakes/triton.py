"""Is installed; the fake torch compiles without it."""
