"""OpenToM: where people think things are, what follows from it, and how they feel about it, in 596 narratives.

Questions on whether an object is where it was (coarse), where it is (fine), how full places and how accessible things
became (multi-hop), and the observer's attitude; in first and second order.
"""
