"""Reading GPU code out of binaries. Nothing is executed."""
