from django.urls import path

from annotation.views import exports

urlpatterns = [
    path("p/<slug:slug>/export/", exports.export, name="export"),
    path("p/<slug:slug>/export/archive/", exports.archive, name="archive"),
    path("p/<slug:slug>/export/<slug:format>/", exports.download, name="download"),
]
