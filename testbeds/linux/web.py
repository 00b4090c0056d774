"""Web servers as guests, set up and warmed up: experiments a, c and f.

web.py compress GUESTS THINK_MS FIELDS     each guest compresses a page of 64 KiB for each request, on one processor
web.py encrypt ENCRYPTION                  one guest on processor 1 sends a file of 1 MiB; clients on processor 0
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

from cgroup import Group, Tree
from lab import LAB, PORT, address, answering, client, folder, free, made, noise, start, warm

CLIENTS = 4
SUITES = {"gcm": "ECDHE-RSA-AES128-GCM-SHA256", "cbc": "ECDHE-RSA-AES128-SHA"}
WITHOUT_AES = "~0x0200000200000000:~0x0000060000000000"
"""OPENSSL_ia32cap: no AES and PCLMULQDQ in the first word of features, no VAES and VPCLMULQDQ in the second."""
CONFIGURATION = """\
user root; daemon off; worker_processes 1; pid {lab}/nginx-{n}.pid; error_log {lab}/nginx-{n}.log;
events {{ worker_connections 512; }}
http {{
  access_log off; keepalive_requests 100000000; open_file_cache max=10; sendfile on; types {{ text/plain txt; }}
  gzip on; gzip_comp_level 6; gzip_types text/plain; root {lab}/www;
  server {{ listen {address}:{port}{tls} }}
}}
"""
TLS = """ ssl;
    ssl_protocols TLSv1.2; ssl_ciphers {suite};
    ssl_certificate {lab}/certificate.pem; ssl_certificate_key {lab}/key.pem;
"""


def serve(group: Group, n: int, tls: str = ";", **environment: str) -> None:
    """Start nginx in a guest."""
    text = CONFIGURATION.format(lab=LAB, n=n, address=address(n), port=PORT, tls=tls)
    path = made(f"nginx-{n}.conf", text.encode())
    start(
        group,
        ["nginx", "-p", str(LAB), "-e", f"{LAB}/nginx-{n}.log", "-c", str(path)],
        **environment,
    )


def page() -> bytes:
    """A text of 64 KiB, of 900 made-up words."""
    random = Random(1)
    words = [
        "".join(random.choices("abcdefghijklmnop", k=random.randint(2, 9))) for _ in range(900)
    ]
    return " ".join(random.choices(words, k=20_000)).encode()[: 64 * 2**10]


def compress(tree: Tree, guests: int, think_ms: int, fields: str) -> None:
    folder("www")
    made("www/page.txt", page())
    for n in range(1, guests + 1):
        serve(Group(tree, f"guest{n}").make(quota=1), n)
    answering(guests)
    urls = [f"http://{address(n)}:{PORT}/page.txt" for n in range(1, guests + 1)]
    driver = ["wrk", "-t1", f"-c{CLIENTS}", "-d1s", "-H", "Accept-Encoding: gzip"]
    warm(client(tree), [[*driver, url] for url in urls])
    Path(fields).write_text(f"clients: {CLIENTS * guests}\nthink_time_s: {think_ms / 1000}\n")


def encrypt(tree: Tree, encryption: str) -> None:
    folder("www")
    noise("www/file.bin", 2**20, 1)
    if not (LAB / "key.pem").is_file():
        request = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "3650",
            "-subj",
            "/CN=guest1",
        ]
        files = ["-keyout", f"{LAB}/key.pem", "-out", f"{LAB}/certificate.pem"]
        subprocess.run([*request, *files], check=True, capture_output=True)
    suite, _, how = encryption.partition("-")
    tls = ";" if suite == "none" else TLS.format(suite=SUITES[suite], lab=LAB)
    group = Group(tree, "guest1").make(cpus="1")
    if how == "software":
        serve(group, 1, tls, OPENSSL_ia32cap=WITHOUT_AES)
    else:
        serve(group, 1, tls)
    answering(1)
    scheme = "http" if suite == "none" else "https"
    made("url", f"{scheme}://{address(1)}:{PORT}/file.bin".encode())
    warm(client(tree, cpus="0"), [["wrk", "-t1", "-c8", "-d1s", (LAB / "url").read_text()]])


def main(what: str, *arguments: str) -> None:
    tree = Tree()
    free(int(arguments[0]) if what == "compress" else 1)
    if what == "compress":
        compress(tree, int(arguments[0]), int(arguments[1]), arguments[2])
    elif what == "encrypt":
        encrypt(tree, arguments[0])
    else:
        raise SystemExit(f"{what!r}; expected compress or encrypt")


if __name__ == "__main__":
    main(*sys.argv[1:])
