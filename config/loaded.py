"""What the web server takes from files for any page, loaded before the first person asks for one: every view, and
every address. The libraries that compute and draw come in where they are used."""

import django
from django.urls import reverse

django.setup()
reverse("login")  # reads every address
