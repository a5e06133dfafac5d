"""Builds the wheel and the source archive of this package, with the standard library only.

An installation from source therefore needs no network and no other package.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Dict, Mapping, Optional

_ROOT = Path(__file__).resolve().parent
_VERSION = re.findall(r'VERSION = "(.+)"', (_ROOT / "causeway/version.py").read_text("utf-8"))[0]
_NAME = f"causeway_client-{_VERSION}"
_INFO = f"{_NAME}.dist-info"
_METADATA = f"""\
Metadata-Version: 2.1
Name: causeway-client
Version: {_VERSION}
Summary: Client of the Causeway partner API: signed requests, safe retries, webhook verification.
Requires-Python: >=3.9
Classifier: Private :: Do Not Upload
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

"""
_WHEEL = "Wheel-Version: 1.0\nGenerator: causeway\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
# A link to a page of the repository leads nowhere in the package: its text stays.
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?!https?:|#)[^)]+\)")


def _sources() -> Dict[str, bytes]:
    files = [*(_ROOT / "causeway").glob("*.py"), _ROOT / "causeway/py.typed"]
    return {f"causeway/{file.name}": file.read_bytes() for file in sorted(files)}


def _page() -> str:
    return _OUTSIDE.sub(r"\1", (_ROOT / "README.md").read_text("utf-8"))


def _metadata() -> bytes:
    return (_METADATA + _page()).encode()


def _record(files: Mapping[str, bytes]) -> bytes:
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{_INFO}/RECORD,,\n"]).encode()


def build_wheel(
    wheel_directory: str,
    config_settings: Optional[Mapping[str, Any]] = None,
    metadata_directory: Optional[str] = None,
) -> str:
    files = {**_sources(), f"{_INFO}/METADATA": _metadata(), f"{_INFO}/WHEEL": _WHEEL.encode()}
    files[f"{_INFO}/RECORD"] = _record(files)
    name = f"{_NAME}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return name


def build_sdist(
    sdist_directory: str, config_settings: Optional[Mapping[str, Any]] = None
) -> str:
    files = {**_sources(), "PKG-INFO": _metadata(), "README.md": _page().encode()}
    for name in ("pyproject.toml", "build_backend.py"):
        files[name] = (_ROOT / name).read_bytes()
    name = f"{_NAME}.tar.gz"
    with tarfile.open(Path(sdist_directory) / name, "w:gz") as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(f"{_NAME}/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return name
