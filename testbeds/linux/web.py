"""Web servers as guests, set up and warmed up: experiments cpu, same and encryption.

web.py compress GUESTS THINK_MS FIELDS    each guest compresses a page of 64 KiB for each request, on one processor
web.py encrypt ENCRYPTION FIELDS          one guest, half of processor 1, works for about 2 ms and sends a file of
                                          1 MiB; clients on processor 0
"""

from __future__ import annotations

import subprocess
import sys
from random import Random

from cgroup import Group, Tree
from lab import (
    LAB,
    PORT,
    address,
    answering,
    client,
    declare,
    folder,
    free,
    made,
    noise,
    start,
    warm,
)

CLIENTS = 4
SUITES = {"gcm": "ECDHE-RSA-AES128-GCM-SHA256", "cbc": "ECDHE-RSA-AES128-SHA"}
TURNS = 43_000
"""How often a loop of Perl in the server runs for a request of the encryption test, about 2 ms."""
WORK = f"""\
  perl_set $work 'sub {{ my $x = 0; for (1..{TURNS}) {{ $x = ($x * 31 + $_) % 65521 }} return $x; }}';
  add_header X-Work $work;
"""
PERL = "load_module /usr/lib/nginx/modules/ngx_http_perl_module.so;"
SHARE = 0.5
"""Of processor 1, which the encrypting guest may use: the clients, on processor 0, then never limit throughput."""
ENCRYPTING_CLIENTS = 8
CONFIGURATION = """\
{load}
user root; daemon off; worker_processes 1; pid {lab}/nginx-{n}.pid; error_log {lab}/nginx-{n}.log;
events {{ worker_connections 512; }}
http {{
  access_log off; keepalive_requests 100000000; open_file_cache max=10; sendfile on; types {{ text/plain txt; }}
  gzip on; gzip_comp_level 6; gzip_types text/plain; root {lab}/www;
{work}  server {{ listen {address}:{port}{tls} }}
}}
"""
TLS = """ ssl;
    ssl_protocols TLSv1.2; ssl_ciphers {suite};
    ssl_certificate {lab}/certificate.pem; ssl_certificate_key {lab}/key.pem;
"""


def serve(group: Group, n: int, tls: str = ";", work: str = "") -> None:
    """Start nginx in a guest; `work`: lines of its configuration that each request executes."""
    load = PERL if work else ""
    text = CONFIGURATION.format(
        lab=LAB, n=n, address=address(n), port=PORT, tls=tls, load=load, work=work
    )
    path = made(f"nginx-{n}.conf", text.encode())
    start(group, ["nginx", "-p", str(LAB), "-e", f"{LAB}/nginx-{n}.log", "-c", str(path)])


def page() -> bytes:
    """A text of 64 KiB, of 900 made-up words."""
    random = Random(1)
    words = [
        "".join(random.choices("abcdefghijklmnop", k=random.randint(2, 9))) for _ in range(900)
    ]
    return " ".join(random.choices(words, k=20_000)).encode()[: 64 * 2**10]


def compress(tree: Tree, guests: int) -> None:
    """Start the servers and drive them for a second, so that all they read is in memory."""
    folder("www")
    made("www/page.txt", page())
    for n in range(1, guests + 1):
        serve(Group(tree, f"guest{n}").make(quota=1), n)
    answering(guests)
    url = f"http://{address(1)}:{PORT}/page.txt"
    warm(client(tree), guests, CLIENTS, 1, url, "Accept-Encoding: gzip")


def encrypt(tree: Tree, encryption: str) -> None:
    folder("www")
    noise("www/file.bin", 2**20, 1)
    if not (LAB / "key.pem").is_file():
        request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650"]
        files = ["-keyout", f"{LAB}/key.pem", "-out", f"{LAB}/certificate.pem"]
        subprocess.run([*request, "-subj", "/CN=guest1", *files], check=True, capture_output=True)
    plain = encryption == "none"
    tls = ";" if plain else TLS.format(suite=SUITES[encryption], lab=LAB)
    serve(Group(tree, "guest1").make(cpus="1", quota=SHARE), 1, tls, WORK)
    answering(1)
    url = f"{'http' if plain else 'https'}://{address(1)}:{PORT}/file.bin"
    made("url", url.encode())
    warm(client(tree, cpus="0"), 1, ENCRYPTING_CLIENTS, 1, url)


def main(what: str, *arguments: str) -> None:
    tree = Tree()
    if what == "compress":
        guests, think_ms, fields = int(arguments[0]), int(arguments[1]), arguments[2]
        free(guests)
        compress(tree, guests)
        declare(fields, CLIENTS * guests, think_ms)
    elif what == "encrypt":
        encryption, fields = arguments
        free(1)
        encrypt(tree, encryption)
        declare(fields, ENCRYPTING_CLIENTS)
    else:
        raise SystemExit(f"{what!r}; expected compress or encrypt")


if __name__ == "__main__":
    main(*sys.argv[1:])
