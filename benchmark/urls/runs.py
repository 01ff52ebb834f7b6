"""Datasets, launching, watching, and single items."""

urlpatterns: list = []
