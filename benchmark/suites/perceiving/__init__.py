"""Perceptions of a story, and what follows from them for beliefs: what the suites with annotated perceivers share."""
