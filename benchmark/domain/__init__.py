"""Pure rules of results: tables, plots and inference, of whatever suite."""
