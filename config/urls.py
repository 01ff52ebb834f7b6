from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("site-admin/", admin.site.urls),
    path("api/", include("annotation.api.urls")),
    path("", include("annotation.urls.accounts")),
    path("", include("annotation.urls")),
    path("", include("workers.urls")),
    path("", include("benchmark.urls")),
]
