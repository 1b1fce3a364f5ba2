#!/bin/bash
# nvbandwidth by copy engine: host to device and back, and device to device where there are several.
command -v nvbandwidth >/dev/null || { echo "@missing nvbandwidth"; exit 0; }
echo "@output nvbandwidth"
nvbandwidth -t host_to_device_memcpy_ce device_to_host_memcpy_ce device_to_device_memcpy_read_ce 2>&1
