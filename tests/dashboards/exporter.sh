# The real node exporter with the arguments of the tree, on kernel files of a node that this machine is not: fabric
# ports, ECC memory, disks, an NFS client, a ZFS pool, a RAID. $MOUNTS are its file systems, as "mount point:type".
set -eu
proc=/tmp/proc sys=/tmp/sys
mkdir -p $proc/{1,net/rpc,sys/{fs,kernel},spl/kstat/zfs/tank} $sys/class/{infiniband,net,hwmon} $sys/devices/system/{cpu,edac/mc/mc0}
for file in stat meminfo loadavg vmstat cpuinfo sys/fs/file-nr; do
  mkdir -p "$proc/$(dirname $file)"
  cat /proc/$file >$proc/$file
done
mkdir -p $sys/devices/system/cpu/cpu{0,1}
for list in online possible present; do echo 0-1 >$sys/devices/system/cpu/$list; done
echo ' 259 0 nvme0n1 9000 0 700000 900 800 0 90000 700 0 1500 1600 0 0 0 0 0 0' >$proc/diskstats
printf 'Inter-|   Receive                            |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed\n  eth0: 900 9 0 0 0 0 0 0 800 8 0 0 0 0 0 0\n' >$proc/net/dev
mkdir -p $sys/class/net/{eth0,bond0/bonding,bond0/lower_eth0/bonding_slave}
for pair in operstate:up speed:100000 carrier:1 mtu:1500 address:02:00:00:00:00:01 flags:0x1003 ifindex:2 type:1; do
  echo "${pair#*:}" | tee $sys/class/net/{eth0,bond0}/"${pair%%:*}" >/dev/null
done
echo bond0 >$sys/class/net/bonding_masters
echo eth0 >$sys/class/net/bond0/bonding/slaves
echo up >$sys/class/net/bond0/lower_eth0/bonding_slave/mii_status
printf 'net 70 70 69 45\nrpc 300 0 300\nproc4 6 0 90 80 70 60 50\n' >$proc/net/rpc/nfs
echo online >$proc/spl/kstat/zfs/tank/state
printf 'Personalities : [raid1]\nmd0 : active raid1 sda1[0] sdb1[1]\n      9000 blocks super 1.2 [2/2] [UU]\n\nunused devices: <none>\n' >$proc/mdstat
echo '25 1 259:1 / / rw,relatime - ext4 /dev/nvme0n1p1 rw' >$proc/1/mountinfo
number=26
for mount in $MOUNTS; do
  mkdir -p "${mount%%:*}"
  echo "$number 25 0:$number / ${mount%%:*} rw,relatime - ${mount#*:} server:/export rw" >>$proc/1/mountinfo
  number=$((number + 1))
done
cp $proc/1/mountinfo $proc/mounts
for count in ce_count ue_count ce_noinfo_count ue_noinfo_count; do echo 0 >$sys/devices/system/edac/mc/mc0/$count; done
for device in $DEVICES; do
  port=$sys/class/infiniband/$device/ports/1
  mkdir -p $port/{counters,hw_counters}
  echo MT4129 >$sys/class/infiniband/$device/hca_type
  echo 28.39.1002 >$sys/class/infiniband/$device/fw_ver
  echo MT_0000000838 >$sys/class/infiniband/$device/board_id
  echo InfiniBand >$port/link_layer
  echo '4: ACTIVE' >$port/state
  echo '5: LinkUp' >$port/phys_state
  echo '400 Gb/sec (4X NDR)' >$port/rate
  for counter in port_rcv_data port_xmit_data port_rcv_errors link_downed link_error_recovery symbol_error port_xmit_discards; do
    echo 7 >$port/counters/$counter
  done
done
echo '1: DOWN' >$port/state # the last one
. /etc/default/prometheus-node-exporter
mkdir -p /var/lib/prometheus/node-exporter /run/dcgm-job-mapping /tmp/textfile
for gpu in 0 1; do
  SLURM_JOB_ID=4$gpu SLURM_JOB_GPUS=$gpu bash /etc/slurm/prolog.d/40-job-map
done
[ ! -e /var/lib/prometheus/node-exporter/gpu-jobs.prom ] || cp /var/lib/prometheus/node-exporter/gpu-jobs.prom /tmp/textfile
set -f
# shellcheck disable=SC2086 # words
exec prometheus-node-exporter $ARGS --no-collector.netdev.netlink --path.procfs=$proc --path.sysfs=$sys --collector.textfile.directory=/tmp/textfile
