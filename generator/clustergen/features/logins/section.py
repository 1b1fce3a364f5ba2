"""Who may log in to compute nodes, as written."""

from clustergen.manifest.base import UnixName, field

PLACES = {
    "host.ssh_adopt": (
        bool,
        field(True, "Users can ssh only to nodes where they have a job, and the session is accounted to that job."),
    ),
    "host.admin_group": (UnixName | None, field(None, "Unix group whose members can ssh to all nodes.")),
}
