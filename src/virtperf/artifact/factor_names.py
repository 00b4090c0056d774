"""Names of factors from their levels, and from the words around them in paths.

A name is given only where the levels leave no doubt: all of them, or most, are known words of one
kind, numbers of bytes, types of machines. Otherwise the factor keeps a number, and the draft asks.
"""

from __future__ import annotations

import re
from collections.abc import Set


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


HYPERVISORS = _words(
    "bhyve chv cloudhv cloudhypervisor crosvm dragonball esxi fc firecracker hvt hyperv kvm kvmtool kvmvirtio "
    "microvm qemu qemukvm qemumicrovm solo5 spt uhyve virtualbox vmware xen xenhvm xenpv xenpvh"
)
RUNTIMES = _words(
    "containerd crio crun docker gvisor kata kata2 kata3 kuasar lxc lxd podman quark runc runsc singularity "
    "sysbox youki"
)
SYSTEMS = (
    HYPERVISORS
    | RUNTIMES
    | _words(
        "bare baremetal container hermit hermitux includeos linux linuxuser lupine metal mirage mirageos "
        "nabla native osv rump rumprun unikraft vm"
    )
)
PARTS = {"hypervisor": HYPERVISORS, "runtime": RUNTIMES}
"""Kinds of systems: all levels have to be among them."""
KINDS = {
    "system": SYSTEMS,
    **PARTS,
    "allocator": _words(
        "buddy glibc hoard jemalloc llfree mimalloc ptmalloc ptmalloc2 scalloc slab slub snmalloc "
        "tcmalloc tinyalloc tlsf"
    ),
    "filesystem": _words(
        "9p 9pfs btrfs ext2 ext3 ext4 f2fs nfs overlay overlayfs shfs tmpfs virtiofs xfs zfs"
    ),
    "application": _words(
        "apache haproxy httpd mariadb memcached mongodb mysql nginx postgres postgresql redis sqlite"
    ),
    "distribution": _words("alpine arch centos debian fedora opensuse rocky ubuntu"),
}
"""Known levels by the name of their factor, without punctuation, the most general first."""
WHOLE = {
    "access": _words("rand randread randrw randwrite read readwrite rw seq seqread seqwrite write"),
    "direction": _words("download in inbound out outbound receive recv rx send tx upload"),
    "architecture": _words("aarch64 amd64 arm arm64 i386 i686 ppc64le riscv64 s390x x86 x8664"),
}
"""Words that have other meanings too: all levels have to be among them."""
MEASURES = _words(
    "bandwidth bw count counts cpu duration durations energy iops latencies latency mem memory power requests "
    "rps rss size sizes throughput time times"
)
"""Names of files that say what was measured."""
SWITCHES = _words("disabled enabled false no off on true yes")
NOUNS = _words(
    "allocator application benchmark distribution filesystem hypervisor kernel machine platform policy "
    "runtime scheduler size version workload"
)
"""Names of folders that say what the folders in them are, also in the plural."""
IN_PLURAL = _words("app config configuration cpu device guest host instance system vm")
"""Those that do so only in the plural: a folder `cpu` may be a test."""
_PROCESSORS = _words(
    "broadwell cascadelake cooperlake genoa graviton graviton2 graviton3 haswell icelake ivybridge milan naples "
    "nehalem rome sandybridge sapphirerapids skylake westmere zen2 zen3 zen4"
)
_CLOUD = re.compile(
    r"[a-z]\d[a-z]*\.(?:nano|micro|small|medium|large|\d*xlarge|metal)", re.IGNORECASE
)
_BYTES = re.compile(r"\d+(?:\.\d+)?(?:[KMGT](?:i?B)?|[kmgt](?:i?b)?)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_VERSION = re.compile(r"v\d+(?:\.\d+)+|\d+(?:\.\d+){2,}")


def names_by_levels(levels: Set[str]) -> list[str]:
    """Names of the factor that has these levels, the most general first; none if they leave it open.

    Of known words of one kind there have to be at least two, and half of the levels.
    """
    if len(levels) == 1:  # a part that other paths lack
        (only,) = levels
        return [only.lower()] if re.fullmatch("[A-Za-z]{2,}", only) else []
    for pattern, name in ((_BYTES, "size"), (_VERSION, "version")):
        if all(pattern.fullmatch(level) for level in levels):
            return [name]
    if all(map(_is_machine, levels)):
        return ["machine"]
    words = {re.sub(r"[^a-z0-9]", "", level.lower()) for level in levels}
    parts = [{*level.lower().split("_")} for level in levels]  # of cells such as runsc_kvm
    if found := [name for name, known in WHOLE.items() if words <= known]:
        return found
    for name, known in KINDS.items():
        least = len(words) if name in PARTS else max(2, len(words) / 2)
        if len(words & known) >= least or sum(map(bool, (of & known for of in parts))) >= least:
            found.append(name)
    return found


def _is_machine(level: str) -> bool:
    parts = re.split(r"[._]", level.lower())
    return _CLOUD.fullmatch(level) is not None or not _PROCESSORS.isdisjoint(parts)


def name_by_word_before(word: str, levels: Set[str]) -> str:
    """The word before a part names it if its levels are numbers or switches: ``mem-128``,
    ``thp-on``; "" if they are not.
    """
    if not word.isalpha():
        return ""
    switches = len(levels) > 1 and {level.lower() for level in levels} <= SWITCHES
    return word if switches or all(_NUMBER.fullmatch(level) for level in levels) else ""


def name_by_folder(folder: str) -> str:
    """The name that a folder gives to what is in it: ``machines``; "" for any other word."""
    word = folder.lower()
    if word in NOUNS:
        return word
    singular = f"{word[:-3]}y" if word.endswith("ies") else word[:-1] if word.endswith("s") else ""
    return singular if singular in NOUNS | IN_PLURAL else ""
