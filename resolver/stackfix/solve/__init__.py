"""The joint solve: the cheapest set of pins that supports every target."""
