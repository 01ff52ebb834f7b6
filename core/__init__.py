"""The ground of every app, owned by none: no table, no word of the domain, no framework."""
