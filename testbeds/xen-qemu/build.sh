#!/bin/sh
# build.sh FOLDER: Xen, dom0's and the guests' initial RAM disks and the web site's disk image in FOLDER, from Debian's packages.
# They are downloaded by apt and unpacked; none is installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/debs" && cd "$1"

kernel=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: //p' | head -1)
# shellcheck disable=SC2046
(cd debs && apt-get download -q -o APT::Sandbox::User=root $(cat "$here/packages.txt") "$kernel")
rm -rf root
for deb in debs/*.deb; do dpkg-deb -x "$deb" root; done
for deb in debs/*.deb; do dpkg-deb -W --showformat '${Package} ${Version}\n' "$deb"; done >versions.txt

gzip -dc root/boot/xen-4.17-amd64.gz >xen
cp "root/boot/vmlinuz-${kernel#linux-image-}" vmlinuz
# The kernel unpacked: each guest would otherwise unpack it under emulation.
python3 - <<'END'
import lzma
image = open("vmlinuz", "rb").read()
open("vmlinux", "wb").write(lzma.LZMADecompressor().decompress(image[image.find(b"\xfd7zXZ\x00"):]))
END
for tool in burn webload; do gcc -O2 -static -o "$tool" "$here/tools/$tool.c" -lm; done

lib=lib/x86_64-linux-gnu
tree() { # name: a tree with busybox
    rm -rf "$1"
    mkdir -p "$1/bin" "$1/sbin" "$1/proc" "$1/sys" "$1/dev" "$1/tmp" "$1/etc" "$1/run" "$1/var/lib" "$1/var/log" "$1/usr/bin" \
        "$1/usr/sbin" "$1/$lib" "$1/lib64" "$1/lib/modules"
    ln -s ../run "$1/var/run"
    cp root/bin/busybox "$1/bin/"
    for applet in $(root/bin/busybox --list); do ln -s busybox "$1/bin/$applet" 2>/dev/null || true; done
    cp -L "root/$lib/ld-linux-x86-64.so.2" "$1/lib64/"
}
programs() { # tree, paths ...: copied with their path
    tree=$1 && shift
    for path; do mkdir -p "$tree/$(dirname "$path")" && rm -f "$tree/$path" && cp -L "root/$path" "$tree/$path"; done
}
modules() { # tree, names in the order of loading, each with its parameters ...
    tree=$1 && shift
    for module; do
        cp "$(find root/lib/modules -name "${module%% *}.ko")" "$tree/lib/modules/"
        echo "$module" >>"$tree/lib/modules/order"
    done
}
libraries() { # tree: every library that a file in it needs, until none is missing
    missing=yes
    while [ -n "$missing" ]; do
        missing=
        for name in $(find "$1" -type f -exec readelf -d {} + 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u); do
            [ -e "$1/$lib/$name" ] || [ -e "$1/lib64/$name" ] && continue
            cp -L "root/$lib/$name" "root/usr/$lib/$name" "$1/$lib/" 2>/dev/null || [ -e "$1/$lib/$name" ] || {
                echo "no library $name in the packages: add its package to packages.txt" >&2
                exit 1
            }
            missing=yes
        done
    done
}
packed() { # tree, file
    (cd "$1" && find . | ../root/bin/busybox cpio -o -H newc 2>/dev/null) | gzip -n -"$3" >"$2"
}

tree guest
programs guest usr/lib/sysstat/sadc usr/bin/sadf
modules guest xen-netfront xen-blkfront crc32c_generic crc16 mbcache jbd2 ext4
cp burn guest/bin/
cp "$here/guest/init" guest/init
libraries guest
packed guest guest.cpio.gz 9

tree dom0
xen=usr/lib/xen-4.17/bin
programs dom0 $xen/xl $xen/xentop $xen/xenstored $xen/xenconsoled $xen/xen-init-dom0 usr/bin/xenstore-read usr/bin/xenstore-write \
    $lib/libgcc_s.so.1 # pthread_cancel loads it by name when `xl create` ends
modules dom0 xen-evtchn xen-gntdev xen-gntalloc xen-privcmd xenfs xen-blkback xen-netback llc stp bridge "brd rd_nr=1 rd_size=71680" \
    virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk
mkdir -p dom0/etc/xen/scripts dom0/guest
cp "$here/dom0/vif" "$here/dom0/block" dom0/etc/xen/scripts/
: >dom0/etc/xen/xl.conf
cp "$here/dom0/init" dom0/init
cp "$here/dom0/experiments.sh" webload dom0/
mv dom0/webload dom0/bin/
cp vmlinux dom0/guest/vmlinux
cp guest.cpio.gz dom0/guest/initrd
libraries dom0
packed dom0 dom0.cpio.gz 1

# The web site: SITE_FILES files of 32 KiB in an ext2 image.
rm -rf site site.img && mkdir -p site/f
for i in $(seq 0 $((SITE_FILES - 1))); do yes "file $i" | head -c 32768 >"site/f/$(printf %04d "$i")"; done # zeros would become holes
mke2fs -q -t ext2 -b 4096 -N $((SITE_FILES + 64)) -m 0 -L site -d site site.img $((SITE_FILES * 33 + 2048))k
rm -rf site
ls -l xen vmlinux guest.cpio.gz dom0.cpio.gz site.img
