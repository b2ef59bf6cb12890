"""stackfix moves a project's GPU stack together until it supports the card in the machine."""
