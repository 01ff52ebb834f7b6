"""Methods of prompting, one file each: small programs of steps that end with a suite's answering step.

A suite says of each question what a method needs (`Put`), and takes those that make sense for it; `program.py` makes
setting, steps and requests.
"""
