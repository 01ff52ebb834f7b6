"""What tables and pictures of results are made with, whatever suite they are of: they read the entrants of a document
and nothing else."""
