"""What pages of every app show alike."""
