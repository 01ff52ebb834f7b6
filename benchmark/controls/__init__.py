"""Controls: the samples of a suite, changed so that what a model remembers or guesses from cues alone can be told from
what it reads.

A file a control, each with one `Control`, a pure function from a sample to a sample. `chosen.py` has all of them and
the setting that chooses one.
"""
