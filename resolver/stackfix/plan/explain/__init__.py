"""Why this, why not that, and what outside the pins would open a way."""
