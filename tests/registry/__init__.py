"""A small package index on this machine, serving recorded metadata of real releases."""
