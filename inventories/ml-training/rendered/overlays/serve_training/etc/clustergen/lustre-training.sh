# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again.
# shellcheck shell=bash disable=SC2034
fsname='training'
manager='mds1'
pools=()
targets=( # name backend device size_bytes server standby unit pool words
  MGS zfs meta/mgt 0 mds1 '' srv-lustre-MGS.mount '' --mgs
  training-MDT0000 zfs meta/mdt0 0 mds1 '' srv-lustre-training-MDT0000.mount '' '--mdt --fsname=training --index=0 --mgsnode=10.1.0.21@o2ib'
  training-OST0000 zfs ost0/ost 0 oss1 '' srv-lustre-training-OST0000.mount '' '--ost --fsname=training --index=0 --mgsnode=10.1.0.21@o2ib'
  training-OST0001 zfs ost1/ost 0 oss1 '' srv-lustre-training-OST0001.mount '' '--ost --fsname=training --index=1 --mgsnode=10.1.0.21@o2ib'
  training-OST0002 zfs ost2/ost 0 oss1 '' srv-lustre-training-OST0002.mount '' '--ost --fsname=training --index=2 --mgsnode=10.1.0.21@o2ib'
  training-OST0003 zfs ost3/ost 0 oss1 '' srv-lustre-training-OST0003.mount '' '--ost --fsname=training --index=3 --mgsnode=10.1.0.21@o2ib'
  training-OST0004 zfs ost4/ost 0 oss2 '' srv-lustre-training-OST0004.mount '' '--ost --fsname=training --index=4 --mgsnode=10.1.0.21@o2ib'
  training-OST0005 zfs ost5/ost 0 oss2 '' srv-lustre-training-OST0005.mount '' '--ost --fsname=training --index=5 --mgsnode=10.1.0.21@o2ib'
  training-OST0006 zfs ost6/ost 0 oss2 '' srv-lustre-training-OST0006.mount '' '--ost --fsname=training --index=6 --mgsnode=10.1.0.21@o2ib'
  training-OST0007 zfs ost7/ost 0 oss2 '' srv-lustre-training-OST0007.mount '' '--ost --fsname=training --index=7 --mgsnode=10.1.0.21@o2ib'
  training-OST0008 zfs ost8/ost 0 oss3 '' srv-lustre-training-OST0008.mount '' '--ost --fsname=training --index=8 --mgsnode=10.1.0.21@o2ib'
  training-OST0009 zfs ost9/ost 0 oss3 '' srv-lustre-training-OST0009.mount '' '--ost --fsname=training --index=9 --mgsnode=10.1.0.21@o2ib'
  training-OST000a zfs ost10/ost 0 oss3 '' srv-lustre-training-OST000a.mount '' '--ost --fsname=training --index=10 --mgsnode=10.1.0.21@o2ib'
  training-OST000b zfs ost11/ost 0 oss3 '' srv-lustre-training-OST000b.mount '' '--ost --fsname=training --index=11 --mgsnode=10.1.0.21@o2ib'
  training-OST000c zfs ost12/ost 0 oss4 '' srv-lustre-training-OST000c.mount '' '--ost --fsname=training --index=12 --mgsnode=10.1.0.21@o2ib'
  training-OST000d zfs ost13/ost 0 oss4 '' srv-lustre-training-OST000d.mount '' '--ost --fsname=training --index=13 --mgsnode=10.1.0.21@o2ib'
  training-OST000e zfs ost14/ost 0 oss4 '' srv-lustre-training-OST000e.mount '' '--ost --fsname=training --index=14 --mgsnode=10.1.0.21@o2ib'
  training-OST000f zfs ost15/ost 0 oss4 '' srv-lustre-training-OST000f.mount '' '--ost --fsname=training --index=15 --mgsnode=10.1.0.21@o2ib'
)
