#!/bin/sh
# build.sh FOLDER: a kernel, its modules, the guests' initial RAM disk and the data that they read, in FOLDER. Debian's packages
# are downloaded by apt and unpacked; none is installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/debs" && cd "$1"

kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
# shellcheck disable=SC2046
(cd debs && apt-get download -q -o APT::Sandbox::User=root $(cat "$here/packages.txt") "$kernel")
rm -rf root guest
for deb in debs/*.deb; do dpkg-deb -x "$deb" root; done
for deb in debs/*.deb; do dpkg-deb -W --showformat '${Package} ${Version}\n' "$deb"; done >versions.txt

# The kernel unpacked: each guest would otherwise unpack it under emulation. The boot protocol says where the payload is.
python3 - "root/boot/vmlinuz-${kernel#linux-image-}" <<'END' | lz4 -dc >vmlinux
import struct, sys
image = open(sys.argv[1], "rb").read()
offset, length = struct.unpack_from("<II", image, 0x248)
begin = 512 * ((image[0x1F1] or 4) + 1) + offset
sys.stdout.buffer.write(image[begin : begin + length - 4])  # the last four bytes are the size
END

mkdir -p guest/bin guest/proc guest/sys guest/dev guest/modules guest/data
cp root/bin/busybox guest/bin/
for applet in $(root/bin/busybox --list); do ln -s busybox "guest/bin/$applet" 2>/dev/null || true; done
for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk libnvdimm nd_btt nd_pmem nd_virtio \
    virtio_pmem virtio_balloon failover net_failover virtio_net; do # in the order of loading
    cp "$(find root/lib/modules -name "$module.ko")" guest/modules/
    echo "$module" >>guest/modules/order
done
gcc -O2 -static -pthread -o guest/bin/tool "$here/guest/tool.c"
cp "$here/guest/init" guest/init
(cd guest && find . | ../root/bin/busybox cpio -o -H newc 2>/dev/null) | gzip -n -9 >guest.cpio.gz

# One file of 64 MiB that nothing can compress or merge within itself, in an ext4 file system without a journal.
mkdir -p data
python3 -c "import random, sys; sys.stdout.buffer.write(random.Random(2026).randbytes(64 << 20))" >data/file
rm -f data.img
mke2fs -q -t ext4 -b 4096 -O ^has_journal,^metadata_csum -m 0 -U 00000000-0000-0000-0000-000000000001 -d data data.img 80M
rm -rf data
ls -l vmlinux guest.cpio.gz data.img
