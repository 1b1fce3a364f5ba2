"""The guide for users as resolved."""

from __future__ import annotations

from clustergen.catalogue.job_templates import TemplateKind, template_kinds
from clustergen.cluster.model import Cluster
from clustergen.features.user_guide import section as manifest
from clustergen.records import copied, record


@record
class UserGuide:
    """Guide and job templates, in `directory` on the nodes where users log in. Absent: none.

    `partition`, `service_partition`: of the templates, and of those that wait for requests; None: the default
    partition. `templates`: those asked for, whether the cluster can run them or not.
    """

    directory: str
    contact: str | None
    partition: str | None
    service_partition: str | None
    templates: tuple[TemplateKind, ...]
    is_selection: bool  # the manifest names templates


def resolve(section: manifest.UserGuide, _: Cluster) -> UserGuide:
    names = section.templates
    return copied(
        UserGuide,
        section,
        directory=section.directory.rstrip("/"),
        service_partition=section.service_partition or section.partition,
        is_selection=bool(names),
        templates=tuple(kind for kind in template_kinds().values() if not names or kind.name in names),
    )


RECORDS = {UserGuide: resolve}
