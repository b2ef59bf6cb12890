"""Which cards a lock is judged for: named by a person, read from a host, declared by a project."""
