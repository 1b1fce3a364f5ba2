"""Software for users: CUDA toolkits, environment modules, Python environments on shared storage, images of record."""
