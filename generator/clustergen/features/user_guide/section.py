"""Guide and job templates for the users of the cluster."""

from typing import Annotated, ClassVar, Literal

from clustergen.manifest.base import NOT_EMPTY, AbsolutePath, AnyName, Phrase, Section, field

JobTemplate = Literal[
    "array",
    "transfer",
    "pytorch-srun",
    "pytorch-torchrun",
    "requeue",
    "accelerate",
    "fsdp",
    "deepspeed",
    "tensor-parallel",
    "pipeline",
    "tensorflow",
    "profile",
    "scaling",
    "pytorch-container",
    "pytorch-apptainer",
    "pytorch-podman",
    "ray",
    "dask",
    "mpi",
    "jupyter",
    "vllm",
    "vllm-nodes",
    "vllm-replicas",
    "triton",
    "triton-replicas",
]


class UserGuide(Section):
    """A guide of this cluster and job templates that fit it, installed where users log in."""

    MEANT_BY_SCALAR: ClassVar = "contact"
    directory: AbsolutePath = field(
        "/usr/local/share/doc/cluster", "Directory of guide.md, guide.html and jobs/ on the nodes where users log in."
    )
    contact: Phrase | None = field(None, "Where users find help, as an address or a channel.")
    templates: tuple[JobTemplate, ...] = field((), "Job templates; default: all that the cluster can run.")
    partition: AnyName | None = field(None, "Partition of the templates; default: the default partition.")
    service_partition: AnyName | None = field(
        None, "Partition of Jupyter and inference servers; default: that of the other templates."
    )


PLACES = {
    "user_guide": (
        Annotated[UserGuide | None, NOT_EMPTY],
        field(None, "Guide and job templates for users; none unless the section is present."),
    )
}
