from __future__ import annotations

import re
import unittest
from pathlib import Path

import metergate
from metergate import MeterSettings

ROOT = Path(__file__).resolve().parents[1]


class ThePackage(unittest.TestCase):
    def test_has_one_version(self) -> None:
        project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        self.assertIn(f'\nversion = "{metergate.__version__}"\n', project)

    def test_has_the_license_of_the_whole_and_no_links_out_of_itself(self) -> None:
        license_text, whole = (folder / "LICENSE" for folder in (ROOT, ROOT.parents[1]))
        self.assertEqual(license_text.read_bytes(), whole.read_bytes())
        self.assertNotIn("](..", (ROOT / "README.md").read_text(encoding="utf-8"))

    def test_explains_each_setting_in_its_readme(self) -> None:
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        named = set(re.findall(r"`(\w+)`", readme))
        self.assertEqual(set(MeterSettings._fields) - named, set())

    def test_needs_nothing_but_the_standard_library(self) -> None:
        imported = set()
        for path in (ROOT / "src").rglob("*.py"):
            imported |= set(
                re.findall(r"^(?:from|import) ([a-z]\w*)", path.read_text(encoding="utf-8"), re.M)
            )
        known = {"__future__", *STANDARD}
        self.assertEqual(imported - known, set())


STANDARD = frozenset(
    [
        "atexit",
        "base64",
        "binascii",
        "collections",
        "contextlib",
        "datetime",
        "decimal",
        "email",
        "functools",
        "hashlib",
        "heapq",
        "hmac",
        "http",
        "importlib",
        "io",
        "itertools",
        "json",
        "logging",
        "math",
        "os",
        "random",
        "re",
        "shutil",
        "socket",
        "ssl",
        "struct",
        "threading",
        "time",
        "typing",
        "urllib",
        "uuid",
        "zlib",
    ]
)

if __name__ == "__main__":
    unittest.main()
