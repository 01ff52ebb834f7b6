"""OmniToM: belief extraction (stage 1) and belief labelling (stage 2), read officially and repaired.

`official` copies the released code; `repaired` reads the same answers with failures as missing data. Their figures
never share a column.
"""
