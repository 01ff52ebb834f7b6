import sys
from typing import Any

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template import loader
from django.urls import include, path
from django.views.defaults import server_error
from django.views.generic import RedirectView

from core.storage import trouble_of

handler500 = "config.urls.failed"


def failed(request: HttpRequest) -> HttpResponse:
    """Answer a request that ended in an exception: 503 where the storage failed, which may pass, else 500.

    The page says nothing of where the database lies: the log does.
    """
    error = sys.exc_info()[1]
    if error is None or not trouble_of(error):
        return server_error(request)
    page = loader.get_template("503.html").render()
    return HttpResponse(page, status=503, headers={"Retry-After": "10"})


class SiteAdminLogIn(RedirectView):
    """Leads to the log-in; refuses an account that is no site admin, which the log-in would send back here without
    end."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not admin.site.has_permission(request):
            raise PermissionDenied
        return super().get(request, *args, **kwargs)


urlpatterns = [
    # One log-in and one change of the password, with their limits.
    path(
        "site-admin/login/",
        login_not_required(SiteAdminLogIn.as_view(pattern_name="login", query_string=True)),
        name="site_admin_login",
    ),
    path(
        "site-admin/password_change/",
        RedirectView.as_view(pattern_name="password_change"),
        name="site_admin_password_change",
    ),
    path("site-admin/", admin.site.urls),
    path("api/", include("config.api")),
    path("", include("annotation.account_urls")),
    path("", include("annotation.urls")),
    path("", include("workers.urls")),
    path("", include("judge.urls")),
    path("", include("benchmark.urls")),
]
