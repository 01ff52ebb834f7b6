"""Benchmarks, a folder each: what is asked, how an answer is read and what it is worth."""
