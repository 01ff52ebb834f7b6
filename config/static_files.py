"""How static files are stored: under the hash of what is in them, so that a browser may keep each for ever."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedFiles(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage that also names the modules which a script imports by their hash.

    A changed module has another name then, and so has every script that imports it: none is served stale.
    """

    support_js_module_import_aggregation = True
