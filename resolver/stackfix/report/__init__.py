"""How results are shown: as text for a person, as JSON for a program. Nothing is decided here."""
