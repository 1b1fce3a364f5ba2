"""UCX and Open MPI, as written."""

from clustergen.manifest.base import EnvName, OptionName, OptionValue, Section, field, section


class Ucx(Section):
    """UCX and Open MPI defaults."""

    enabled: bool = field(True, "Whether to render ucx.conf and Open MPI's parameters.")
    env: dict[EnvName, OptionValue] = field({}, "More UCX variables.")
    mca: dict[OptionName, OptionValue] = field({}, "More Open MPI parameters.")


PLACES = {"ucx": (Ucx, section(Ucx, "UCX and Open MPI."))}
