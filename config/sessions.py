"""Sessions in the database as Django keeps them; every request asks for its own, by a query that is written once."""

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from core.reads import Read

_BY_KEY = Read[Session](lambda given: Session.objects.filter(session_key=given.key, expire_date__gt=given.now))


class SessionStore(db.SessionStore):
    def _get_session_from_db(self) -> Session | None:
        rows = _BY_KEY(key=self.session_key, now=timezone.now())
        if not rows:
            self._session_key = None
            return None
        return rows[0]
