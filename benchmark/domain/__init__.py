"""Pure rules of the benchmarks: what is asked, how an answer is read and what it is worth."""
