"""Sets of questions on who knows what of a conversation, as FANToM has them: files, rows, parses of answers and
figures that several suites share."""
