"""A copy of the sums, how an admin brings it into the cast's project, and the cast's project with it."""

import io
import zipfile

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from tests.cast import Cast, new_cast
from tests.copies import copied

SUMS = [(1, 2), (3, 4), (5, 6), (7, 8), (2, 2), (9, 9), (4, 1), (6, 6), (8, 3), (2, 7), (5, 5), (1, 1)]
RIGHT = {f"sum-{at}": str(first + second) for at, (first, second) in enumerate(SUMS)}
"""The right answer to each of the sums."""


def zipped(**files: str) -> SimpleUploadedFile:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"copy/{name}.txt", text)
    return SimpleUploadedFile("copy.zip", buffer.getvalue(), "application/zip")


def imported(admin, cast, **fields):
    sums = "\n".join(f"{first} {second}" for first, second in SUMS)
    address = reverse("benchmark:import_copy", args=[cast.project.slug, "tiny"])
    return admin.post(address, {"file": zipped(sums=sums), "set_most": "99", "note": "ours", **fields})


def cast_with_sums() -> Cast:
    """The cast with the sums in its project."""
    return copied("imported answers", _with_sums)


def _with_sums() -> Cast:
    cast, admin = new_cast(), Client()
    admin.force_login(cast.alice)
    imported(admin, cast)
    return cast
