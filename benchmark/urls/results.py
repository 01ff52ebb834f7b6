"""Leaderboard, comparison, reports and downloads."""

urlpatterns: list = []
