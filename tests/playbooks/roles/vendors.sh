#!/bin/bash
# Makes this node the mirror of three vendors: signed repositories of empty packages, where each vendor has its own.
# Usage: vendors.sh "PACKAGE…" for apt "PACKAGE…" for dnf; a line VENDOR:PACKAGE each. Serves /srv/mirror on port 8000.
# The apt repository of CUDA has two branches of the driver as well.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive GNUPGHOME=/srv/keys
apt-get -qq update
apt-get -qq install --no-install-recommends gpg gpg-agent dpkg-dev apt-utils rpm createrepo-c dnf python3-dnf >/dev/null
mkdir -p /etc/yum.repos.d /etc/pki/rpm-gpg

mirror=/srv/mirror
install -d -m 0700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-gen-key vendor rsa3072 sign never
gpg --batch --quiet --passphrase '' --quick-gen-key stranger rsa3072 sign never

cuda=$mirror/developer.download.nvidia.com/compute/cuda/repos
toolkit=$mirror/nvidia.github.io/libnvidia-container
beegfs=$mirror/www.beegfs.io/release/beegfs_8.4
declare -A deb=([cuda]=$cuda/debian13/x86_64 [nvidia_container]=$toolkit/stable/deb/amd64 [beegfs]=$beegfs/dists/trixie/non-free/binary-amd64)
declare -A rpm=([cuda]=$cuda/rhel9/x86_64 [nvidia_container]=$toolkit/stable/rpm/x86_64 [beegfs]=$beegfs/dists/rhel9)
mkdir -p "${deb[@]}" "${rpm[@]}" "$beegfs/gpg"
gpg --armor --export vendor | tee "$toolkit/gpgkey" "$beegfs/gpg/GPG-KEY-beegfs" > "$cuda/rhel9/x86_64/D42D0685.pub"

make_deb() { # directory package version further-field
  local root version=${3:-1.0}
  root=$(mktemp -d)
  mkdir "$root/DEBIAN"
  printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: vendor\n%bDescription: empty\n' "$2" "$version" "${4:-}" > "$root/DEBIAN/control"
  if [ "$2" = cuda-keyring ]; then
    install -d "$root/usr/share/keyrings"
    gpg --export vendor > "$root/usr/share/keyrings/cuda-archive-keyring.gpg"
  fi
  if [[ $2 == nvidia-driver-pinning-* ]]; then
    install -d "$root/etc/apt/preferences.d"
    printf 'Package: nvidia-open nvidia-fabricmanager libnvidia-nscq\nPin: version %s.*\nPin-Priority: 1001\n' "${2##*-}" > "$root/etc/apt/preferences.d/nvidia"
  fi
  dpkg-deb --build "$root" "$1/${2}_${version/1.0/1.1-1}_all.deb" >/dev/null
}
for branch in 580 590; do
  one='Provides: nvidia-driver-pinning\nConflicts: nvidia-driver-pinning\n'
  make_deb "${deb[cuda]}" "nvidia-driver-pinning-$branch" "$branch" "$one"
  for name in nvidia-open nvidia-fabricmanager libnvidia-nscq; do make_deb "${deb[cuda]}" $name "$branch.10-1"; done
done
for entry in cuda:cuda-keyring $1; do make_deb "${deb[${entry%%:*}]}" "${entry#*:}"; done

index() { # directory of Release, directory of packages, as the first names it
  (cd "$1" && apt-ftparchive packages "$2" > "$2/Packages" && apt-ftparchive release . > /tmp/Release && mv /tmp/Release Release)
  gpg --batch --yes --quiet --local-user "${signer:-vendor}" --clearsign --output "$1/InRelease" "$1/Release"
}
index "${deb[cuda]}" .
index "${deb[nvidia_container]}" .
(cd "$beegfs" && apt-ftparchive packages dists/trixie > "${deb[beegfs]}/Packages")
distribution=(-o APT::FTPArchive::Release::Codename=trixie -o APT::FTPArchive::Release::Components=non-free)
(cd "$beegfs/dists/trixie" && apt-ftparchive "${distribution[@]}" release . > /tmp/Release && mv /tmp/Release Release)
gpg --batch --quiet --local-user vendor --clearsign --output "$beegfs/dists/trixie/InRelease" "$beegfs/dists/trixie/Release"

for entry in $2; do
  name=${entry#*:}
  printf 'Name: %s\nVersion: 1.0\nRelease: 1\nSummary: empty\nLicense: none\nBuildArch: noarch\n%%description\nempty\n%%files\n' "$name" > "/tmp/$name.spec"
  rpmbuild --quiet -bb --define "_rpmdir ${rpm[${entry%%:*}]}" "/tmp/$name.spec"
done
find "$mirror" -name '*.rpm' -exec rpmsign --define '_gpg_name vendor' --addsign {} + >/dev/null
for directory in "${rpm[@]}"; do createrepo_c --quiet "$directory"; done

# A copy of NVIDIA's repository for apt, signed by somebody else.
cp -r "$mirror" /srv/stranger
signer=stranger index "/srv/stranger/${deb[cuda]#"$mirror"/}" .
for place in mirror:8000 stranger:8001; do
  systemd-run --quiet --unit "mirror-${place#*:}" python3 -m http.server --directory "/srv/${place%:*}" "${place#*:}"
done
for port in 8000 8001; do
  for _ in $(seq 600); do (echo >"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.1; done
done
