"""OmniToM's results beyond what every suite shows: the paper's tables, its analyses, and their
pictures."""
