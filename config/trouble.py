"""The page that people read where the disk or the database fails."""

import sys

from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.views.defaults import server_error

from core.storage import trouble_of


def failed(request: HttpRequest) -> HttpResponse:
    """Answer a request that ended in an exception: 503 where the storage failed, which may pass, else 500.

    The page says nothing of where the database lies: the log does.
    """
    error = sys.exc_info()[1]
    if error is None or not trouble_of(error):
        return server_error(request)
    page = loader.get_template("503.html").render()
    return HttpResponse(page, status=503, headers={"Retry-After": "10"})
