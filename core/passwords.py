"""Rules for passwords, said in every language of the pages."""

from django.contrib.auth.password_validation import MinimumLengthValidator
from django.utils.translation import ngettext


class LongEnough(MinimumLengthValidator):
    """Django's own rule, whose sentence its catalogues have in an older wording only."""

    def get_error_message(self) -> str:
        """Return why a password is refused."""
        message = ngettext(
            "This password is too short. It must contain at least {count} character.",
            "This password is too short. It must contain at least {count} characters.",
            self.min_length,
        )
        return str(message).format(count=self.min_length)
