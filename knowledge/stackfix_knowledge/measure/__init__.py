"""Measuring wheels on an index, and writing the facts."""
