"""Agreement between annotators: one family of coefficients a file, all on `Votes`."""
