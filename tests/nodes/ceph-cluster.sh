#!/bin/bash
# ceph-cluster.sh ADDRESS FSID USER: a small Ceph cluster on this node, for tests. One daemon of each kind; objects are kept in
# memory. Its file system `cephfs` has the directory /shared/vision, which user 2001 owns. Prints the key of USER.
set -euo pipefail
address=$1 fsid=$2 user=$3
admin=/etc/ceph/ceph.client.admin.keyring
data=/var/lib/ceph
call() { timeout -k 5 120 "$@"; }

mkdir -p /etc/ceph "$data"/{mon,mgr/ceph-a,mds/ceph-a,osd/ceph-0} /run/ceph
cat >/etc/ceph/ceph.conf <<CONF
[global]
fsid = $fsid
mon_host = $address
public_network = $address/28
auth_client_required = cephx
osd_objectstore = memstore
memstore_device_bytes = 1073741824
osd_crush_chooseleaf_type = 0
osd_pool_default_size = 1
mon_allow_pool_size_one = true
mon_data_avail_crit = 1
mgr_initial_modules = iostat
run_dir = /run/ceph
CONF

keys=$(mktemp)
ceph-authtool "$keys" --create-keyring --gen-key --name mon. --cap mon 'allow *' >/dev/null
ceph-authtool "$admin" --create-keyring --gen-key --name client.admin \
  --cap mon 'allow *' --cap mgr 'allow *' --cap osd 'allow *' --cap mds 'allow *' >/dev/null
ceph-authtool "$keys" --import-keyring "$admin" >/dev/null
monmaptool --create --clobber --fsid "$fsid" --addv a "[v2:$address:3300,v1:$address:6789]" "$data/monmap" >/dev/null
ceph-mon --mkfs --id a --monmap "$data/monmap" --keyring "$keys"
rm "$keys"
ceph-mon --id a
call ceph auth get-or-create mgr.a mon 'allow profile mgr' osd 'allow *' mds 'allow *' -o "$data/mgr/ceph-a/keyring"
ceph-mgr --id a
uuid=$(cat /proc/sys/kernel/random/uuid)
call ceph osd new "$uuid" >/dev/null
call ceph auth get-or-create osd.0 mon 'allow profile osd' mgr 'allow profile osd' osd 'allow *' -o "$data/osd/ceph-0/keyring"
ceph-osd --id 0 --mkfs --osd-uuid "$uuid" >/dev/null 2>&1
ceph-osd --id 0 >/dev/null
call ceph auth get-or-create mds.a mon 'allow profile mds' mgr 'allow profile mds' osd 'allow *' mds 'allow *' \
  -o "$data/mds/ceph-a/keyring"
ceph-mds --id a >/dev/null
for pool in metadata objects; do call ceph osd pool create "$pool" 8 >/dev/null 2>&1; done
call ceph fs new cephfs metadata objects >/dev/null 2>&1

for ((try = 0; try < 600; try++)); do
  if call ceph mds stat | grep -q up:active; then break; fi
  sleep 0.5
done
mkdir -p /mnt/ceph-root
timeout -k 5 120 ceph-fuse --id admin /mnt/ceph-root >/dev/null 2>&1
install -d /mnt/ceph-root/shared
install -d -o 2001 /mnt/ceph-root/shared/vision
umount /mnt/ceph-root
call ceph fs authorize cephfs "client.$user" / rwp >/dev/null
call ceph auth print-key "client.$user"
