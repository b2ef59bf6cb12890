"""Which GPU code lies on this disk."""
