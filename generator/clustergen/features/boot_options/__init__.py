"""Options of the kernel's command line, where the boot loader reads them."""

from __future__ import annotations

AREA = "host"
