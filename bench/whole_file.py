# SPDX-License-Identifier: Apache-2.0
"""Results are written whole or not at all: what a file held before is there until the new text is
on the disk."""
import os
import pathlib
import shutil
import tempfile


def replace(path, text):
    path = pathlib.Path(os.path.realpath(path))
    descriptor, name = tempfile.mkstemp(prefix=".ladder-", suffix=".tmp", dir=path.parent)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, name)
        else:
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
