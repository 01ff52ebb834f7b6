"""Storage of static files: under the hash of what is in them, so that a browser may keep each for ever."""

from whitenoise.storage import CompressedManifestStaticFilesStorage

IMPORT = (r"""(?m)^(?P<matched>(?P<names>import [^"';]*)"(?P<url>\.[^"]+)";)""", '%(names)s"%(url)s";')
"""A line of a module that imports another. Django's own patterns also find imports in the comments of other people's
scripts, of files that do not exist, and refuse to collect them."""


class HashedFiles(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage that also names the modules which a script imports by their hash.

    A changed module has another name then, and so has every script that imports it: none is served stale.
    """

    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("*.js", (IMPORT,)))
