# SPDX-License-Identifier: Apache-2.0
"""How the tests of this folder run programs: without the settings of whoever calls the tests."""
import os
import subprocess
import tempfile
import unittest


def environment(**settings):
    """That of this process without what vgpu reads, and with `settings`."""
    others = ("CUDA_VISIBLE_DEVICES", "GITHUB_WORKSPACE", "CI_PROJECT_DIR")
    return {name: value for name, value in os.environ.items()
            if not name.startswith("VGPU_") and name not in others} | settings


def run(*command, env=None, timeout=100, **keywords):
    """The exit status and the output of a command."""
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False,
                          env=environment() if env is None else env, **keywords)


class InFolder(unittest.TestCase):
    """A test with a folder of its own, which goes with it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
