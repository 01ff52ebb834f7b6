from django.urls import path

from annotation.views import agreement

urlpatterns = [
    path("p/<slug:slug>/agreement/", agreement.agreement, name="agreement"),
    path("p/<slug:slug>/agreement/annotators/", agreement.agreement_annotators, name="agreement_annotators"),
    path("p/<slug:slug>/agreement/annotators.csv", agreement.agreement_csv, name="agreement_csv"),
    path("p/<slug:slug>/agreement/second-opinions/", agreement.agreement_opinions, name="agreement_opinions"),
]
