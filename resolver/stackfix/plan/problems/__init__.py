"""What is handed to the solver: the project's problem, its relaxations, its variants."""
