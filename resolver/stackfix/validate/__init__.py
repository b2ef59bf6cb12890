"""Proving pins: install them in a scratch environment, read every binary, run the kernels."""
