"""The frameworks that jobs train with, for CPUs: installed once by pip, in the cache of this user."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from clustergen.verify.slurm_roots import parsers_directory

# Directory → what pip tries to install there, the first that it can. PyTorch for CPUs is a fifth of the size.
PACKAGES = {
    "torch": (
        "torch==2.13.0+cpu numpy accelerate transformers deepspeed",
        "torch numpy accelerate transformers deepspeed",
    ),
    "tensorflow": ("tensorflow-cpu tf_keras",),
    "airflow": ("apache-airflow",),
}
ROOT = "bookworm"  # its Python is 3.11, for which there are wheels of all of them
PLACE = "opt/training"


def frameworks() -> Path:
    """The frameworks for Python 3.11, in the cache of this user."""
    digest = hashlib.sha256(repr(PACKAGES).encode()).hexdigest()[:16]
    layer = parsers_directory().parent / f"training-{digest}"
    if layer.is_dir():
        return layer
    new = layer.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for name, attempts in PACKAGES.items():
        where = ["--target", str(new / PLACE / name)]
        if sys.version_info[:2] != (3, 11):
            where += ["--python-version", "3.11", "--only-binary", ":all:"]
        codes = (
            subprocess.run([*pip, *where, *words.split()], timeout=1800, check=False).returncode for words in attempts
        )
        assert 0 in codes, f"pip could not install {attempts[-1]}"
    binary = new / PLACE / "bin"
    binary.mkdir()
    (binary / "torchrun").write_text(
        '#!/bin/sh\nexec /usr/bin/python3 -m torch.distributed.run "$@"\n', encoding="ascii"
    )
    (binary / "torchrun").chmod(0o755)
    new.rename(layer)
    return layer
