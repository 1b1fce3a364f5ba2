"""Alerting rules by topic: what is wrong, from when on, what it means and what to do.

A topic's function has the cluster and records of it as arguments, and is asked where the cluster has these. It returns
None where there is nothing of the kind. The DCGM exporter's list of counters is made
from the fields that these expressions read, so a rule on a counter that nobody exports cannot come about.
"""

from __future__ import annotations

from clustergen.cluster.model import Cluster, once_per_cluster, with_records
from clustergen.discovery import modules_of
from clustergen.feature import claim, extension_of, modules, result_of
from clustergen.records import replace
from clustergen.render.alerts import Topic


@once_per_cluster
def topics(cluster: Cluster) -> dict[str, Topic]:
    """Rule files by name: what `topic` of each module of this package and of each feature returns. Topics of one name
    are one, of which the first has all but alerts and recordings.
    """
    by_name: dict[str, Topic] = {}
    owners: dict[str, str] = {}
    for module in (*modules_of(__name__, "topic"), *modules("alerts")):
        topic = result_of(with_records(module.topic), Topic, cluster) if cluster.asks(module.__name__) else None
        if topic is None:
            continue
        owner = module.__name__ if extension_of(module.__name__) else "clustergen"
        for name in (topic.name, *(alert.name for alert in topic.alerts)):
            claim(owners, name, owner, "have the topic {}" if name == topic.name else "have the alert {}")
        first = by_name.setdefault(topic.name, topic)
        if topic is not first:
            recordings, alerts = first.recordings + topic.recordings, first.alerts + topic.alerts
            by_name[topic.name] = replace(first, recordings=recordings, alerts=alerts)
    return {name: by_name[name] for name in sorted(by_name, key=lambda name: (by_name[name].place, name))}
