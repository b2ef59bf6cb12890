"""Lock files other than uv.lock, as environments: flat lists without edges."""
