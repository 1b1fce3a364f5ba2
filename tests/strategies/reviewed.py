"""Texts that people have reviewed, in fixtures/reviewed/: what lint and `validate` say of the mistakes in tables of tests.

`python -m strategies.reviewed`, run in tests/, writes them and the hashes of outputs; review the difference as you review
code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

DIRECTORY = Path(__file__).parents[1] / "fixtures" / "reviewed"


@cache
def expected(table: str) -> Mapping[str, str]:
    """Name of a row → its text."""
    parts = (DIRECTORY / f"{table}.txt").read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    return {name: f"{text}\n" for name, _, text in (part.partition("\n") for part in parts)}


def write(table: str, texts: Mapping[str, str]) -> None:
    DIRECTORY.mkdir(exist_ok=True)
    text = "\n".join(f"{name}\n{text}" for name, text in texts.items())
    (DIRECTORY / f"{table}.txt").write_text(text, encoding="utf-8")


def main() -> None:
    from hardware import test_ibnetdiscover, test_lldp, test_plan_check, test_symmetry
    from rules import test_fabric, test_hardware, test_names_and_addresses, test_partitions
    from strategies import lint_sites, mistakes, reviewed_outputs, service_manifests, slurm_manifests
    from strategies.findings import diagnosed, words

    write("lint", {name: lint_sites.findings(*row) for name, row in lint_sites.rows().items()})
    for table, rows in {
        "fabric": test_fabric.WRONG,
        "hardware": test_hardware.WRONG,
        "names": test_names_and_addresses.WRONG,
        "partitions": test_partitions.WRONG,
        "services": service_manifests.WRONG,
        "slurm": slurm_manifests.WRONG,
    }.items():
        write(table, {name: words(diagnosed(text)) for name, (text, _) in rows.items()})
    of_fabrics = (test_plan_check, test_symmetry, test_ibnetdiscover, test_lldp)
    write("cabling", {name: text for module in of_fabrics for name, text in module.rows().items()})
    of_clusters = {title: text for name in mistakes.MANIFESTS for title, text in mistakes.findings(name).items()}
    write("mistakes", of_clusters | mistakes.odd_findings())
    reviewed_outputs.write()


if __name__ == "__main__":
    main()
