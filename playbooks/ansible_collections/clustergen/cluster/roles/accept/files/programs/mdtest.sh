#!/bin/bash
# mdtest: empty files are created, looked at and removed by all nodes at once, each task in its own directory.
command -v mdtest >/dev/null || { echo "@missing mdtest"; exit 0; }
if [ "$GATE_PML" = ob1 ]; then export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp; else export OMPI_MCA_pml="$GATE_PML"; fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
place="$GATE_DIRECTORY/.clustergen-accept.$SLURM_JOB_ID"
if [ "$SLURM_PROCID" = 0 ]; then
  mkdir -m 0700 "$place" || { echo "@why $GATE_DIRECTORY is not writable"; exit 1; }
  trap 'rm -rf "$place"' EXIT
fi
# All users know the name: root writes only in a directory of its own, or of nobody's if the server squashes root,
# and follows no link to one.
patience=200
until cd -P "$place" 2>/dev/null && [[ $(stat -c %u .):$PWD =~ ^($EUID|65534):.*/"${place##*/}"$ ]]; do
  ((patience--)) || { echo "@why $place does not belong to root"; exit 1; }
  sleep 0.5
done
timeout -k 5 "$((GATE_SECONDS * 10 + 300))" mdtest -F -u -L -n 1000000 -W "$GATE_SECONDS" -d ./out 2>&1 | awk '
  /was launched with/ { for (n = 1; n < NF; n++) { if ($n == "with") print "@reading ranks " $(n + 1); if ($n == "on") print "@reading hosts " $(n + 1) } }
  $1 == "File" && $3 + 0 > 0 { name["creation"] = "create"; name["stat"] = "stat"; name["removal"] = "unlink"
    if ($2 in name) printf "@reading %s %.1f\n", name[$2], $5 }
  /ERROR|rror:/ && !errors++ { print "@why mdtest: " $0 }'
