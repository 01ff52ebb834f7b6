import os
from importlib import import_module

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
# Loads every view, and with them the statistics and drawing libraries, before the first person asks for a page or a
# figure.
_ = get_resolver().url_patterns
import_module("benchmark.domain.plots")
import_module("scipy.special")  # estimates ask it for the smallest difference that can be shown
