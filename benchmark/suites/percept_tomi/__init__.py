"""Percept-ToMi: who perceives which sentence of a story, and where people think that a thing is; 600 questions of ToMi
with annotated perceivers.

Three tasks on one story: perception inference, belief inference from the true perceptions, and the question itself.
"""
