"""The compatibility graph: facts, their evidence, queries and measuring. Knows no project."""
