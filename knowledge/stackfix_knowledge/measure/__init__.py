"""Reading binaries and the package index to learn what a wheel really carries."""
