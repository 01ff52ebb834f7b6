"""Verdicts of a judge on two belief tables: how they are read and put beside the rows that it was given."""
