"""Answers that were made elsewhere: reading their files, matching them to samples, and keeping them as a run beside the
others."""
