"""Log-in and account pages, outside the namespace: Django's auth views look their URLs up by these names."""

from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.urls import path

from annotation.views import accounts

_public = login_not_required

urlpatterns = [
    path("login/", accounts.LogIn.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("account/", accounts.account, name="account"),
    path("language/", accounts.language, name="language"),
    path("account/tokens/", accounts.make_api_token, name="make_api_token"),
    path("account/tokens/<int:pk>/end/", accounts.end_api_token, name="end_api_token"),
    path("account/password/", accounts.PasswordChange.as_view(), name="password_change"),
    path("account/password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("password/reset/", _public(accounts.ResetRequest.as_view()), name="password_reset"),
    path("password/reset/sent/", _public(auth.PasswordResetDoneView.as_view()), name="password_reset_done"),
    path("password/reset/<uidb64>/<token>/", _public(accounts.Reset.as_view()), name="password_reset_confirm"),
    path("invitation/<str:token>/", accounts.invitation, name="invitation"),
    path("invitations/<int:invitation>/", accounts.answer_invitation, name="answer_invitation"),
]
