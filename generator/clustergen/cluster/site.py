"""Description of the cluster, and files of the site: which rendered ones they replace, which are public."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.manifest.model import Manifest
from clustergen.records import copied, record


@record
class Description:
    """Description of the cluster."""

    text: str  # empty where there is none


@record
class SiteFiles:
    """Files of `site/`, as group/path."""

    replaces: tuple[str, ...]  # those that replace rendered ones
    public: tuple[str, ...]  # those not checked for secrets


def resolve_description(manifest: Manifest, _: Cluster) -> Description:
    return Description(manifest.description or "")


def resolve_files(manifest: Manifest, _: Cluster) -> SiteFiles:
    return copied(SiteFiles, manifest.site)
