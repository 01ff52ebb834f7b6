"""The catalogues of this installation's own apps."""

import logging
from pathlib import Path

from django.apps import apps
from django.conf import settings

from core.catalogues.files import compile_all

FRAME = "config"
"""The app whose catalogue has the frame of all pages, which names what all apps have: base, menus, errors, log-in."""


def own_apps() -> list[str]:
    """Return the labels of the apps that are folders of this code."""
    return [app.label for app in apps.get_app_configs() if Path(app.path).parent == settings.BASE_DIR]


def compile_ours() -> None:
    """Compile the catalogues for Django to read. Where that cannot be written, pages are as they were written: in
    English."""
    try:
        compile_all(settings.BASE_DIR, own_apps(), Path(settings.LOCALE_PATHS[0]))
    except OSError as error:
        logging.getLogger(__name__).warning("The translated texts could not be written: %s", error)
