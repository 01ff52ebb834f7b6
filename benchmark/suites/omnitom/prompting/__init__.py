"""Prompts: prompt sets as versioned text files, the requests made from them, and in-context examples.

Levels are those of the TELeR taxonomy (OmniToM, appendix C.1): 1 one sentence, 2 a paragraph, 3 stepwise sub-tasks, 4
criteria, a block by story category and examples besides. The answer format `text` asks for the tables that official
scoring parses, `structured` for JSON that a schema holds to the closed label sets (`parsing/tables.py` reads it).
"""
