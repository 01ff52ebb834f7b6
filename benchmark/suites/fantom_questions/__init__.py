"""FANToM's sets of questions on who knows what of a conversation: the files, rows, parses of answers and figures that
FANToM and Percept-FANToM share."""
