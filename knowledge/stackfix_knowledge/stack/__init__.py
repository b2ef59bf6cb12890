"""The packages of a GPU stack: what each is, what ties them, and what is known to break."""
