"""Everything that the web server takes from files, loaded before the first person asks for a page or a figure: every
view, and with them the statistics and drawing libraries."""

from importlib import import_module

import django
from django.urls import get_resolver

django.setup()
_ = get_resolver().url_patterns
import_module("benchmark.domain.plots")
import_module("scipy.special")  # estimates ask it for the smallest difference that can be shown
