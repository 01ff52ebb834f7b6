"""What OmniToM shows of its results beyond what every suite gets: the paper's tables, its analyses, and their
pictures."""
