"""Parts of pages that every app shows alike."""
