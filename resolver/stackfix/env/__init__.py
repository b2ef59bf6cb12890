"""The environment to set before the first step, for one stack on one host."""
