"""Alerts on the cache of data sets of each node."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.features.storage.local.data_sets_files import TEXTFILE
from clustergen.features.storage.local.resolved import caching
from clustergen.render.alerts import Alert, Topic

REQUIRES = "slurm"


def topic(cluster: Cluster) -> Topic | None:
    entry = caching(cluster)
    if entry is None:
        return None
    alerts = (
        Alert(
            "DataSetCacheFull", "clustergen_data_sets_bytes > clustergen_data_sets_limit_bytes", "1h", "warning",
            summary="The cache of data sets of {{ $labels.instance }} has {{ $value | humanize1024 }}B, above its"
            " limit",
            meaning="Running jobs use all of it, so that nothing can be removed; other jobs read from the source.",
            action=f"`du -sh {entry.mount}/*/*` on the node shows whose it is. Raise"
            f" `storage.{entry.name}.data_sets.size`, or ask the user to read from the source.",
        ),
        Alert(
            "DataSetMetricsOld",
            f'time() - node_textfile_mtime_seconds{{file=~".*/{TEXTFILE}"}} > 7200', "0s", "warning",
            summary="The cache of data sets of {{ $labels.instance }} was last cleaned {{ $value | humanizeDuration }}"
            " ago",
            meaning="The program fails; the disk may fill up.",
            action="On the node: `systemctl status clustergen-data-sets.timer clustergen-data-sets`.",
        ),
    )  # fmt: skip
    return Topic(
        "data-sets",
        "Cache of data sets.",
        (),
        alerts,
        look="On the node: `journalctl -u clustergen-data-sets`.",
        page="node",
        works="all jobs; those without a copy read from the source",
        place=85,
    )
