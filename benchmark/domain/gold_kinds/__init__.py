"""Gold by how it came about: scores on each kind of it, whether ranks change, how far it moved, and its ceiling."""
