#!/bin/sh
# Packs the program PROGRAM into OUT: `synod` alone and stripped, a Debian package, and the folder of the container image. Then it looks
# at what it has made, and fails unless that is as promised. `cargo xtask package` builds the program and calls this.
#
#   sh deploy/package.sh PROGRAM OUT
set -eu

program=$1
out=$2
deploy=$(dirname "$0")
# At most so many bytes, stripped: 40 MiB.
size_max=41943040

rm -rf "$out"
mkdir -p "$out/image"
strip --strip-all -o "$out/synod" "$program"
cp "$out/synod" "$out/image/synod"
cp "$deploy/Containerfile" "$out/image/Containerfile"

size=$(stat --format %s "$out/synod")
[ "$size" -le "$size_max" ] || { echo "the program has $size bytes, more than $size_max" >&2; exit 1; }
! readelf --program-headers "$out/synod" | grep -q INTERP || { echo "the program is not static" >&2; exit 1; }
version=$("$out/synod" --version | cut -d " " -f 2)

# Who answers for the package.
maintainer=${MAINTAINER:-Synod <synod@localhost>}
# The same sources make the same package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$deploy" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

root=$out/debian
put() { install -D --mode "$1" "$2" "$root/$3"; }
put 755 "$out/synod" usr/bin/synod
for unit in synod.service synod-backup.service synod-backup.timer; do
    put 644 "$deploy/systemd/$unit" "usr/lib/systemd/system/$unit"
done
put 644 "$deploy/debian/synod.sysusers" usr/lib/sysusers.d/synod.conf
put 640 "$deploy/debian/synod.toml" etc/synod/synod.toml
put 640 "$deploy/debian/policy.toml" etc/synod/policy.toml
put 644 "$deploy/debian/synod.logrotate" etc/logrotate.d/synod
install -d --mode 750 "$root/etc/synod/certs"
put 644 "$deploy/debian/copyright" usr/share/doc/synod/copyright
put 644 "$deploy/debian/lintian-overrides" usr/share/lintian/overrides/synod
put 644 "$deploy/../docs/OPERATIONS.md" usr/share/doc/synod/OPERATIONS.md
put 644 "$deploy/prometheus/synod.rules.yaml" usr/share/doc/synod/synod.rules.yaml
put 644 "$deploy/grafana/synod.json" usr/share/doc/synod/grafana.json
printf 'synod (%s) stable; urgency=medium\n\n  * See CHANGELOG.md of the release.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date --utc --date "@$SOURCE_DATE_EPOCH" --rfc-email)" | gzip -9n >"$out/changelog.gz"
put 644 "$out/changelog.gz" usr/share/doc/synod/changelog.gz
rm "$out/changelog.gz"

install -d "$root/usr/share/man/man1"
"$out/synod" man --out "$root/usr/share/man/man1" >/dev/null
gzip -9n "$root"/usr/share/man/man1/*.1
completed() { install -d "$root/usr/share/$(dirname "$2")"; "$out/synod" completions "$1" >"$root/usr/share/$2"; }
completed bash bash-completion/completions/synod
completed zsh zsh/vendor-completions/_synod
completed fish fish/vendor_completions.d/synod.fish

install -d "$root/DEBIAN"
for script in postinst prerm postrm; do install --mode 755 "$deploy/debian/$script" "$root/DEBIAN/$script"; done
printf '/etc/logrotate.d/synod\n/etc/synod/policy.toml\n/etc/synod/synod.toml\n' >"$root/DEBIAN/conffiles"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort --zero-terminated | xargs --null md5sum >DEBIAN/md5sums)
cat >"$root/DEBIAN/control" <<CONTROL
Package: synod
Version: $version
Architecture: amd64
Maintainer: $maintainer
Section: admin
Priority: optional
Depends: systemd (>= 247)
Installed-Size: $(du --summarize --block-size 1024 "$root" | cut -f 1)
Description: keeps HA API servers in agreement
 Three replicas hold which API servers take part, which storage version each
 of them encodes, decodes, serves or votes for, and what they have agreed on.
CONTROL
package=$out/synod_${version}_amd64.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
rm -rf "$root"

# What was made is what is tried: unpacked elsewhere, with an empty environment.
tried=$(mktemp -d)
trap 'rm -rf "$tried"' EXIT
dpkg-deb --extract "$package" "$tried"
env -i "$tried/usr/bin/synod" --version
env -i "$tried/usr/bin/synod" policy test "$tried/etc/synod/policy.toml"
for page in synod.1.gz synod-serve.1.gz; do test -s "$tried/usr/share/man/man1/$page"; done
if [ "$(id -u)" = 0 ]; then
    # As in a container: nothing but the program, and a user that has no name.
    chroot --userspec 65532:65532 "$out/image" /synod --version
fi
if command -v lintian >/dev/null; then lintian --fail-on error "$package"; fi
ls -l "$out"
