"""Files and JSON that come from outside. A sheet becomes rows (`sheets`), a JSON text becomes records (`json_records`),
bytes become a value (`text`), and a value becomes an instance of a declared shape (`shapes`). What does not fit is one
sentence with its place, what was found and what was expected (`misfit`)."""
