"""Checks of the facts beyond what reading them refuses."""
