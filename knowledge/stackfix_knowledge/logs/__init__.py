"""What lines of a log mean: signatures of faults, and the driver's Xids."""
