"""The CI gate: do these locks support the targets, and does a change make it worse?"""
