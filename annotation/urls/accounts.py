"""Log-in and account pages, outside the namespace: Django's auth views look their URLs up by these names."""

from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.urls import path

from annotation.views import accounts

_public = login_not_required

urlpatterns = [
    path("login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("account/", accounts.account, name="account"),
    path("account/token/", accounts.api_token, name="api_token"),
    path("account/password/", auth.PasswordChangeView.as_view(), name="password_change"),
    path("account/password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("password/reset/", _public(auth.PasswordResetView.as_view()), name="password_reset"),
    path("password/reset/sent/", _public(auth.PasswordResetDoneView.as_view()), name="password_reset_done"),
    path(
        "password/reset/<uidb64>/<token>/",
        _public(auth.PasswordResetConfirmView.as_view()),
        name="password_reset_confirm",
    ),
    path("password/reset/complete/", _public(auth.PasswordResetCompleteView.as_view()), name="password_reset_complete"),
    path("invitation/<str:token>/", accounts.invitation, name="invitation"),
]
