"""ToMBench: multiple-choice questions about stories, each asked in several orders of its options, in English and
Chinese.

`official` copies the released code; `repaired` reads the same answers with an answer that names no option as missing
data. Their figures never share a column.
"""
