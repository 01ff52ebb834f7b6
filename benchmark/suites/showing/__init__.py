"""Parts of tables and pictures of results, whatever suite they are of: they read the entrants of a document
and nothing else."""
