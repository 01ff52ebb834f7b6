"""Percept-FANToM: who hears each utterance of FANToM's short conversations, and what its sets of questions come to from
there (Jung et al. 2024, "Perceptions to Beliefs")."""
