"""Web servers as guests, set up and warmed up: experiments a, c, f and o.

web.py compress GUESTS THINK_MS FIELDS     each guest compresses a page of 64 KiB for each request, on one processor
web.py open GUESTS                         the same for requests at a constant rate
web.py encrypt ENCRYPTION WORK_MS FIELDS   one guest, half of processor 1, works for about WORK_MS and
                                           sends a file of 1 MiB; clients on processor 0
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
TURNS = {0: 0, 2: 43_000, 20: 430_000}
"""How often a loop of Perl in the server runs for a request, by the milliseconds that this takes about."""
WORK = """\
  perl_set $work 'sub {{ my $x = 0; for (1..{turns}) {{ $x = ($x * 31 + $_) % 65521 }} return $x; }}';
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


def serve(group: Group, n: int, tls: str = ";", turns: int = 0, **environment: str) -> None:
    """Start nginx in a guest; `turns`: of the loop that each request runs."""
    added = {"load": PERL, "work": WORK.format(turns=turns)} if turns else {"load": "", "work": ""}
    text = CONFIGURATION.format(lab=LAB, n=n, address=address(n), port=PORT, tls=tls, **added)
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


def compress(tree: Tree, guests: int) -> None:
    """Start the servers and drive them for a second, so that all they read is in memory."""
    folder("www")
    made("www/page.txt", page())
    for n in range(1, guests + 1):
        serve(Group(tree, f"guest{n}").make(quota=1), n)
    answering(guests)
    urls = [f"http://{address(n)}:{PORT}/page.txt" for n in range(1, guests + 1)]
    driver = ["wrk", "-t1", f"-c{CLIENTS}", "-d1s", "-H", "Accept-Encoding: gzip"]
    warm(client(tree), [[*driver, url] for url in urls])
    made("targets", "".join(f"GET {url}\n" for url in urls).encode())


def declare(fields: str, clients: int, think_ms: int) -> None:
    """What run.yaml says of the clients."""
    Path(fields).write_text(f"clients: {clients}\nthink_time_s: {think_ms / 1000}\n")


def encrypt(tree: Tree, encryption: str, work_ms: int) -> None:
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
    group = Group(tree, "guest1").make(cpus="1", quota=SHARE)
    environment = {"OPENSSL_ia32cap": WITHOUT_AES} if how == "software" else {}
    serve(group, 1, tls, TURNS[work_ms], **environment)
    answering(1)
    scheme = "http" if suite == "none" else "https"
    made("url", f"{scheme}://{address(1)}:{PORT}/file.bin".encode())
    driver = ["wrk", "-t1", f"-c{ENCRYPTING_CLIENTS}", "-d1s", (LAB / "url").read_text()]
    warm(client(tree, cpus="0"), [driver])


def main(what: str, *arguments: str) -> None:
    tree = Tree()
    free(1 if what == "encrypt" else int(arguments[0]))
    if what == "compress":
        guests, think_ms, fields = arguments
        compress(tree, int(guests))
        declare(fields, CLIENTS * int(guests), int(think_ms))
    elif what == "open":
        compress(tree, int(arguments[0]))
    elif what == "encrypt":
        encryption, work_ms, fields = arguments
        encrypt(tree, encryption, int(work_ms))
        declare(fields, ENCRYPTING_CLIENTS, 0)
    else:
        raise SystemExit(f"{what!r}; expected compress, open or encrypt")


if __name__ == "__main__":
    main(*sys.argv[1:])
