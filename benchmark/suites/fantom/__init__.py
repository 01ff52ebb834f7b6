"""FANToM: conversations that somebody leaves and joins again, and questions on who knows what was said meanwhile."""
