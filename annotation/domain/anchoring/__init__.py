"""The effect of pre-filled labels and drafts: arms compared, and the alternative annotator test."""
