from django.utils import timezone
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from annotation.models import ApiToken, Scope, User
from annotation.services.accounts import find_token


class AccountToken(TokenAuthentication):
    """`Authorization: Token …`, with a token of the account page."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        credentials = super().authenticate(request)
        if credentials and credentials[1].scope == Scope.READ and request.method not in SAFE_METHODS:
            raise PermissionDenied("This token may only read; make one that may write on your account page.")
        return credentials

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        token = find_token(secret=key, now=timezone.now())
        if token is None:
            raise AuthenticationFailed("Invalid token: unknown, expired, or ended with a change of the password.")
        return token.user, token
