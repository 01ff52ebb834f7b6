"""The texts of code, templates and scripts, and the catalogues of their translations."""
