"""The nouns of the program: a target, a stack, a finding, a policy. Plain data for every room."""
