from django.urls import path

from annotation.views import people

urlpatterns = [
    path("p/<slug:slug>/people/", people.people, name="people"),
    path("p/<slug:slug>/people/<int:membership>/", people.change_role, name="change_role"),
    path("p/<slug:slug>/invitations/<int:invitation>/revoke/", people.revoke, name="revoke_invitation"),
]
