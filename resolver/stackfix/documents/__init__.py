"""JSON documents: what the program writes for others, and reads back from anywhere."""
