"""From a lock to what is wrong with it: the one way, for every command."""
