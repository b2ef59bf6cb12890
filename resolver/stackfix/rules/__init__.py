"""Rules: one file a rule, each a pure question asked of a stack and a target."""
