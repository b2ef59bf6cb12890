"""Measuring: `make bench`. Every figure is a ratio or a time taken within one run."""
