"""The product's settings with one app more, whose job handler keeps a receipt for every answer that it takes."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.chaos.apps.ChaosConfig"]
