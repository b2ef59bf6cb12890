"""The command line: reads arguments, calls the parts, hands results to the report."""
