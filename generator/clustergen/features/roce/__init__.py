"""RoCE: lossless Ethernet on the hosts, what switches must share with them, and counters of ports."""
