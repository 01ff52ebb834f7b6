import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
# Loads every view, and with them the statistics libraries, before the first person asks for a page.
_ = get_resolver().url_patterns
