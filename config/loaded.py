"""What the web server takes from files for any page, loaded before the first person asks for one: every view, the
addresses that they name, and what pictures are described by. The libraries that compute and draw come in where they
are used."""

from importlib import import_module

import django
from django.urls import reverse

django.setup()
reverse("login")  # reads every address
import_module("benchmark.domain.plots")
