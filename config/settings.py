"""The one settings file. Everything that differs between installations comes from the environment (docs/admins.md)."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from csp.constants import NONE, SELF

from config import environment

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = environment.private_folder(Path(environment.text("CREDENCE_VAR", str(BASE_DIR / "var"))))

# Matplotlib's font cache: a container's home may be read-only.
os.environ.setdefault("MPLCONFIGDIR", str(VAR_DIR / "matplotlib"))
# Small products of matrices: threads that share one wait for each other longer than it takes, and keep the processors
# from other processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

DEBUG = environment.boolean("DEBUG", False)
SECRET_KEY = environment.secret_key(VAR_DIR)
CREDENCE_VERSION = environment.text("CREDENCE_VERSION", environment.code_version(BASE_DIR))
SITE_URL = environment.site_url()
ALLOWED_HOSTS = environment.listing("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
ALLOWED_HOSTS.append(environment.ascii_host(SITE_URL))
CSRF_TRUSTED_ORIGINS = [*environment.listing("CSRF_TRUSTED_ORIGINS"), environment.origin(SITE_URL)]
HOST = environment.host()
OPEN_TO_OTHERS = not environment.is_loopback(HOST)
BEHIND_TLS = environment.boolean("BEHIND_TLS", urlsplit(SITE_URL).scheme == "https")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "rest_framework.authtoken",  # a migration of annotation takes its tokens over
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
    "core",
    "config.apps.ConfigConfig",
    "workers.apps.WorkersConfig",
    "annotation.apps.AnnotationConfig",
    "benchmark.apps.BenchmarkConfig",
    "judge.apps.JudgeConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.middleware.ReadersLanguage",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.middleware.PrivatePages",
    "config.middleware.NoNul",
    "config.middleware.ReadingDeadline",
    "config.middleware.FailedSuites",
    "config.middleware.ComputesInTime",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
MESSAGE_STORAGE = "core.views.pages.NoticeStorage"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates", BASE_DIR / "benchmark" / "suites"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": [
                "django.templatetags.i18n",
                "django.templatetags.static",
                "django.contrib.humanize.templatetags.humanize",
                "django_htmx.templatetags.django_htmx",
                "core.templatetags.texts",
                "workers.templatetags.money",
                "annotation.templatetags.values",
                "benchmark.templatetags.results",
            ],
        },
    }
]

# --- database --------------------------------------------------------------------------------------------------------
DEFAULT_DATABASE_URL = f"sqlite:///{VAR_DIR / 'credence.sqlite3'}"


def _database() -> dict[str, Any]:
    url = environment.text("DATABASE_URL", DEFAULT_DATABASE_URL)
    try:
        database: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=600, conn_health_checks=True))
    except (ValueError, KeyError, dj_database_url.ParseError):
        environment.problems.append("DATABASE_URL could not be read; expected postgres://user:password@host:port/name.")
        database = dict(dj_database_url.parse(DEFAULT_DATABASE_URL))
    if database["ENGINE"].endswith("sqlite3"):
        # Measured: with Django's defaults four requests in five fail under twenty concurrent writers.
        database["ENGINE"] = "config.sqlite"
        database["OPTIONS"] = {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY; "
            "PRAGMA mmap_size=67108864; PRAGMA cache_size=-8192;",
        }
        # In a file, not in memory: threads of a test then meet the locks that they meet in production.
        database["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}
        if not str(database["NAME"]).startswith((":memory:", "file:")):
            environment.private_file(Path(database["NAME"]))
    elif database["ENGINE"].endswith("postgresql"):
        database.setdefault("OPTIONS", {})["prepare_threshold"] = 2  # core/reads.py
    return database


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = environment.text("REDIS_URL")


def _cache(name: str, most: int) -> dict[str, Any]:
    """Return a cache in Redis, or of up to `most` entries in files: beyond them a third is thrown out, whatever it
    is."""
    if REDIS_URL:
        return {"BACKEND": "config.cache.Cache", "LOCATION": REDIS_URL, "KEY_PREFIX": name}
    return {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": VAR_DIR / name,
        "OPTIONS": {"MAX_ENTRIES": most},
    }


# Plots are many and quick to make; they do not push out what takes long.
CACHES = {"default": _cache("cache", 5_000), "plots": _cache("figures", 5_000)}

# --- workers (docs/models.md)
# ------------------------------------------------------------------------------------------
CELERY_BROKER_URL = environment.text("BROKER_URL", REDIS_URL or "files://localhost")
_BROKER_DIR = VAR_DIR / "broker"
if CELERY_BROKER_URL.startswith("files://"):
    for folder in ("messages", "control"):
        (_BROKER_DIR / folder).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_BROKER_DIR / "messages"),
        "data_folder_out": str(_BROKER_DIR / "messages"),
        "control_folder": str(_BROKER_DIR / "control"),
        "polling_interval": 0.1,
    }
    CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
else:
    # kombu's own intervals keep whoever notifies workers waiting for 6 s while the broker is away.
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "socket_connect_timeout": 2,
        "socket_timeout": 3,  # longer than a worker waits for one message, 1 s
        "max_retries": 1,
    } | dict.fromkeys(("interval_start", "interval_step", "interval_max"), 0.2)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "calls"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = True
# Every worker does these by itself (config/celery.py): no scheduler has to run. `celery beat` may do it, too.
CELERY_BEAT_SCHEDULE = {
    "anchors": {"task": "judge.ask_anchors", "schedule": 60.0, "options": {"queue": "calls", "expires": 60}}
}
WORKER_LEASE_SECONDS = environment.integer("WORKER_LEASE_SECONDS", 20, low=2, high=3600)
ANSWER_MAX_BYTES = environment.integer("ANSWER_MAX_MB", 16, low=1, high=1024) * 1_000_000
WORKER_SWEEP_SECONDS = environment.integer("WORKER_SWEEP_SECONDS", 5, low=1, high=600)
ENDPOINT_HOSTS = environment.listing("ENDPOINT_HOSTS")
ENDPOINT_PROXY = environment.boolean("ENDPOINT_PROXY", False)
# Providers know no settings. Set, not defaulted: a child process with another CREDENCE_VAR has another folder.
os.environ["SCRIPTED_DIR"] = str(VAR_DIR / "scripts")

# --- people ----------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "annotation.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "core.passwords.LongEnough", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "annotation:home"
LOGOUT_REDIRECT_URL = "login"
INVITATION_DAYS = environment.integer("INVITATION_DAYS", 14, low=1, high=365)

LOGIN_ATTEMPTS = environment.integer("LOGIN_ATTEMPTS", 8, low=3, high=100)

EMAIL_URL = environment.text("SMTP_HOST")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_URL else 'console'}.EmailBackend"
EMAIL_HOST = EMAIL_URL or "localhost"
EMAIL_PORT = environment.integer("SMTP_PORT", 587, low=1, high=65535)
EMAIL_HOST_USER = environment.text("SMTP_USER")
EMAIL_HOST_PASSWORD = environment.text("SMTP_PASSWORD")
EMAIL_USE_TLS = environment.boolean("SMTP_TLS", True)
DEFAULT_FROM_EMAIL = environment.text("MAIL_FROM", "credence@localhost")

# --- security --------------------------------------------------------------------------------------------------------
SESSION_ENGINE = "config.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = BEHIND_TLS
SECURE_HSTS_SECONDS = 31536000 if BEHIND_TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = BEHIND_TLS
SECURE_SSL_HOST = urlsplit(environment.origin(SITE_URL)).netloc
TRUST_PROXY = environment.boolean("TRUST_PROXY", False)
if TRUST_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
        "object-src": [NONE],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
IMPORT_MAX_BYTES = environment.integer("IMPORT_MAX_MB", 64, low=1, high=4096) * 1024 * 1024

# --- language, time, static files ------------------------------------------------------------------------------------
LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en-gb", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [VAR_DIR / "locale"]  # compiled from the apps' catalogues when a process begins (core/catalogues)
FORMAT_MODULE_PATH = "config.formats"
LANGUAGE_COOKIE_NAME = "language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SECURE = BEHIND_TLS
TIME_ZONE = "UTC"
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.static_files.HashedFiles"},
}
MEDIA_ROOT = VAR_DIR / "media"

# --- API -------------------------------------------------------------------------------------------------------------
IDEMPOTENCY_MODEL = "workers.Making"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.api.authentication.AccountToken",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["core.api.parsing.BoundedJSON"],
    "DEFAULT_PAGINATION_CLASS": "core.api.pagination.Pages",
    "PAGE_SIZE": 50,
    "DEFAULT_SCHEMA_CLASS": "core.api.openapi.Described",
    "EXCEPTION_HANDLER": "core.api.errors.one_shape",
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.UserRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {
        "user": f"{environment.integer('API_REQUESTS_PER_MINUTE', 600, low=1, high=1_000_000)}/min",
        "anon": "60/min",  # core.api.errors
    },
    "NUM_PROXIES": 1 if TRUST_PROXY else 0,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Credence API",
    "DESCRIPTION": (
        "Projects, stories, propositions, votes, gold labels, agreement, rounds of suggestions, datasets, runs "
        "and models."
    ),
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "TAGS": [
        {"name": "corpus", "description": "Projects, stories, propositions: every member. Drafts and pairs: experts."},
        {"name": "labelling", "description": "Your own assignments, votes, comments and flags."},
        {"name": "gold", "description": "Settled labels with their lineage, decisions, flags. Experts and admins."},
        {"name": "people", "description": "Members and their roles. Admins."},
        {"name": "results", "description": "Agreement (experts, admins) and export (admins)."},
        {"name": "pre-filling", "description": "Rounds of suggestions. Admins."},
        {"name": "runs", "description": "Datasets and runs of models, for those to whom a project shows results."},
        {"name": "models", "description": "Models that can be asked. The site admin."},
    ],
    "ENUM_NAME_OVERRIDES": {
        "ErrorTagInEnum": "annotation.forms.values.TAGS",
        "InvitationStateEnum": "annotation.api.people.INVITATION_STATES",
        "RoleInEnum": "annotation.forms.values.ROLES",
        "RoleEnum": "annotation.models.Role",
    },
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "COMPONENT_SPLIT_REQUEST": True,
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "refusals": {"()": "config.log_filters.RefusalFilter"},
        "keys": {"()": "config.log_filters.KeyFilter"},
        "storage": {"()": "config.log_filters.StorageFilter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "filters": ["refusals", "storage", "keys"]}},
    # It warns whenever a request waits for a thread, which is what a queue is for.
    "loggers": {"waitress.queue": {"level": "ERROR"}},
    "root": {"handlers": ["console"], "level": environment.text("LOG_LEVEL", "WARNING").upper()},
}
