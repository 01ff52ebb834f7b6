"""Numbers of Chinese pages: in threes, as in the tables of papers (Django's own has no separator)."""

THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
