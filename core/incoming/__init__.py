"""JSON that comes from outside: bytes become a value (`text`), a value becomes an instance of a declared shape
(`shapes`), and what does not fit is one sentence with its place, what was found and what was expected (`misfit`)."""
