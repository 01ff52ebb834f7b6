"""What every app stands on and none owns: no table, no word of the domain, no framework."""
