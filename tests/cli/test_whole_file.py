# SPDX-License-Identifier: Apache-2.0
"""bench/whole_file.py: what a file held stays where the new text cannot be written; mode and links
stay as they were."""
import os
import pathlib
import resource
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import whole_file  # noqa: E402  (its folder is known only now)


class WholeFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "rows.json"

    def test_keeps_mode_and_links(self):
        self.path.write_text("old")
        self.path.chmod(0o600)
        (self.folder / "link").symlink_to("rows.json")
        whole_file.replace(self.folder / "link", "new\n")
        self.assertEqual((self.path.read_text(), self.path.stat().st_mode & 0o777),
                         ("new\n", 0o600))
        self.assertTrue((self.folder / "link").is_symlink())

    def test_a_full_disk_changes_nothing(self):
        self.path.write_text("old")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        try:
            with self.assertRaises(OSError):
                whole_file.replace(self.path, "x" * 100_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
        self.assertEqual((self.path.read_text(), os.listdir(self.folder)), ("old", ["rows.json"]))


if __name__ == "__main__":
    unittest.main()
