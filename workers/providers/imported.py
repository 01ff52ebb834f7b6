"""The provider of answers that were made elsewhere: it stands in rows and can be asked nothing, so no form and no
command offers it."""

IMPORTED = "imported"
LABEL = "Imported answers"
SENTENCE = "Its answers were made elsewhere and imported; nothing can be asked of it."
