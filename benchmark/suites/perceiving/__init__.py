"""Who perceives what of a story, and what follows from it for beliefs: what the suites with annotated perceivers
share."""
