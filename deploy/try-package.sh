#!/bin/sh
# Tries out what `deploy/package.sh` has made in OUT: installs, upgrades, removes and purges the Debian package, builds the image, and
# runs a replica from the image's files alone. All of it happens in copies that are gone afterwards. What cannot be tried for the lack
# of a tool or a right is said as SKIPPED. `cargo xtask package` calls this.
#
#   sh deploy/try-package.sh OUT
set -eu

fail() { echo "FAILED: $*" >&2; exit 1; }
# Runs a command, and shows what it has said only if it fails.
quietly() { "$@" >"$tried/said" 2>&1 || { cat "$tried/said" >&2; fail "$*"; }; }
skipped() { echo "SKIPPED: $*" >&2; }

# ---------------------------------------------------------------------------------------------------------------------

# The Debian package, in a copy of this system that is written to memory.
debian() {
    mkdir "$tried/copy"
    mount -t tmpfs tmpfs "$tried/copy"
    mkdir "$tried/copy/upper" "$tried/copy/work" "$tried/copy/root"
    root=$tried/copy/root
    mount -t overlay overlay -o "lowerdir=/,upperdir=$tried/copy/upper,workdir=$tried/copy/work" "$root"
    mount -t proc proc "$root/proc"
    # No systemd runs there, so the scripts of the package start nothing.
    mount -t tmpfs tmpfs "$root/run"
    mount -t tmpfs tmpfs "$root/tmp"
    cp "$package" "$root/tmp/synod.deb"
    inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
    is() { found=$(inside stat --format "%A %U %G" "$1"); [ "$found" = "$2" ] || fail "$1 is $found, not $2"; }

    inside dpkg --purge synod >/dev/null 2>&1 || true
    quietly inside dpkg --install /tmp/synod.deb
    inside getent passwd synod >/dev/null || fail "there is no user synod"
    is /usr/bin/synod "-rwxr-xr-x root root"
    is /etc/synod/synod.toml "-rw-r----- root synod"
    is /etc/synod/policy.toml "-rw-r----- root synod"
    is /etc/synod/certs "drwxr-x--- root synod"
    [ -z "$(inside dpkg --verify synod)" ] || fail "dpkg finds files changed: $(inside dpkg --verify synod)"
    for file in usr/lib/systemd/system/synod.service usr/share/man/man1/synod-serve.1.gz; do
        [ -s "$root/$file" ] || fail "it brings no $file"
    done
    inside synod --version

    # A newer release with another default file. What was filled in stays, and what came is put beside it.
    echo '#filled_in = "by hand"' >>"$root/etc/synod/synod.toml"
    echo key >"$root/etc/synod/certs/server-key.pem"
    install -d "$root/var/lib/synod"
    dpkg-deb --raw-extract "$package" "$tried/copy/newer"
    echo '#another = "default"' >>"$tried/copy/newer/etc/synod/synod.toml"
    sed -i 's/^Version: .*/&+newer/' "$tried/copy/newer/DEBIAN/control"
    dpkg-deb --root-owner-group -Znone --build "$tried/copy/newer" "$root/tmp/newer.deb" >/dev/null
    quietly inside dpkg --force-confdef --force-confold --install /tmp/newer.deb
    grep -q "by hand" "$root/etc/synod/synod.toml" || fail "an upgrade has replaced what was filled in"
    grep -q another "$root/etc/synod/synod.toml.dpkg-dist" || fail "an upgrade has not shown its own file"
    is /etc/synod/certs/server-key.pem "-rw-r----- root synod"

    quietly inside dpkg --remove synod
    [ ! -e "$root/usr/bin/synod" ] || fail "the program is there after the package is removed"
    grep -q "by hand" "$root/etc/synod/synod.toml" || fail "the removal took what was filled in"
    quietly inside dpkg --purge synod
    for file in /etc/synod/synod.toml /etc/synod/policy.toml /etc/synod/synod.toml.dpkg-dist; do
        [ ! -e "$root$file" ] || fail "$file is there after the package is purged"
    done
    # What the package has not brought, nobody takes away by it: keys, and the data of a replica.
    [ -e "$root/etc/synod/certs/server-key.pem" ] || fail "the purge took a key"
    [ -d "$root/var/lib/synod" ] || fail "the purge took the data"
    [ -z "$(inside dpkg --listfiles synod 2>/dev/null)" ] || fail "dpkg still knows files of the package"
    echo "the Debian package was installed, upgraded, removed and purged"
}

# ---------------------------------------------------------------------------------------------------------------------

# The image, as its Containerfile says. Its files come to $tried/image.
image() {
    stored() { buildah --root "$tried/store" --runroot "$tried/run" --storage-driver vfs "$@"; }
    quietly stored build --isolation chroot --file "$out/image/Containerfile" --tag synod "$out/image"
    container=$(stored from synod)
    cp -a "$(stored mount "$container")" "$tried/image"
    files=$(cd "$tried/image" && find . -type f)
    [ "$files" = ./synod ] || fail "the image has other files than the program: $files"
    config=$(stored inspect --type image --format '{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}}' synod)
    [ "$config" = "65532:65532 [/synod]" ] || fail "the image says $config"
    echo "the image was built from its Containerfile"
}

# A replica that has nothing but the image's files, its data, and certificates, as a user without a name. Its ports are its own.
replica() {
    ip link set lo up
    "$out/synod" certs dev --out "$tried/certs" --hosts 127.0.0.1 >/dev/null
    mkdir "$tried/image/data" "$tried/image/certs"
    mount -t tmpfs -o mode=700,uid=65532,gid=65532 tmpfs "$tried/image/data"
    mount --bind "$tried/certs" "$tried/image/certs"
    chown -R 65532:65532 "$tried/certs"
    mount --bind "$tried/image" "$tried/image"
    mount -o remount,bind,ro "$tried/image"
    # The mounts below are not of the folder that is only read.
    mount -t tmpfs -o mode=700,uid=65532,gid=65532 tmpfs "$tried/image/data"
    mount --bind "$tried/certs" "$tried/image/certs"
    env -i "$(command -v chroot)" --userspec 65532:65532 "$tried/image" /synod serve --data-dir /data --cluster-name image \
        --replica-id 1 --replicas 1=127.0.0.1:4610 \
        --cert-file /certs/server.pem --key-file /certs/server-key.pem --trusted-ca-file /certs/client-ca.pem \
        --peer-cert-file /certs/peer.pem --peer-key-file /certs/peer-key.pem --peer-trusted-ca-file /certs/peer-ca.pem \
        2>"$tried/log" &
    serves=$!
    asked=0
    until "$out/synod" settings --timeout 2s --endpoints https://127.0.0.1:4600 --cacert "$tried/certs/server-ca.pem" \
        --cert "$tried/certs/admin.pem" --key "$tried/certs/admin-key.pem" >/dev/null 2>"$tried/said"; do
        asked=$((asked + 1))
        if [ "$asked" = 30 ] || ! kill -0 "$serves" 2>/dev/null; then
            cat "$tried/log" "$tried/said" >&2
            fail "the replica in the image does not serve"
        fi
        sleep 1
    done
    kill -TERM "$serves"
    wait "$serves" || fail "the replica in the image does not end as it should: $?"
    echo "a replica has served from the files of the image alone, without root and without writing beside /data"
}

# ---------------------------------------------------------------------------------------------------------------------

# One of the parts above, apart from the system.
if [ -n "${2:-}" ]; then
    "$2"
    exit
fi

out=$(cd "$1" && pwd)
package=$(ls "$out"/synod_*_amd64.deb)
tried=$(mktemp -d)
trap 'rm -rf "$tried"' EXIT
export out package tried

# What makes mounts and ports that nobody else sees. Root is root in there; others are if they may map a range of users.
apart() {
    if [ "$(id -u)" = 0 ]; then
        unshare --mount --net "$@"
    else
        unshare --user --map-root-user --map-auto --mount --net "$@"
    fi
}

if ! apart true 2>/dev/null; then
    skipped "neither the Debian package nor the image was tried: this user may make no namespaces"
    exit 0
fi
if command -v dpkg >/dev/null && [ -d /var/lib/dpkg/info ]; then
    apart sh "$0" "$out" debian
else
    skipped "the Debian package was not installed: there is no dpkg"
fi
if command -v buildah >/dev/null; then
    apart sh "$0" "$out" image
else
    skipped "the image was not built: there is no buildah; its files are those of its folder"
    mkdir "$tried/image"
    cp "$out/image/synod" "$tried/image/synod"
fi
if command -v ip >/dev/null; then
    apart sh "$0" "$out" replica
else
    skipped "no replica was run from the image: there is no ip"
fi
