"""From a project and its targets to a plan that can be saved and applied."""
