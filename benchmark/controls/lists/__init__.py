"""Names, things and sentences of our own, that controls put in the place of others."""
