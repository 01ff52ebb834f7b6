"""The forgiving parse of answers: what a person would read off the same text, and nothing that needs a guess.

It takes structured output (row ids) as well as tables in plain text, and returns what is missing as missing.
"""
