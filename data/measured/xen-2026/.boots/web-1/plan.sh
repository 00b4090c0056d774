WARMUP_S=5 WORK_S=37 INTERVAL_S=3 SAMPLES=8
CLIENTS=4 THINK_MS=200 SITE_FILES=2048
busy_guests 6
web_guest
condition web-5 1000 '256:0 256:0 256:0 256:0 256:0' '160' 1001
condition web-6 1000 '256:0 256:0 256:0 256:0 256:0 256:0' '160' 1001
condition web-4 1000 '256:0 256:0 256:0 256:0' '160' 1001
condition web-1 1000 '256:0' '160' 1001
condition web-0 1000 '' '160' 1001
condition web-2 1000 '256:0 256:0' '160' 1001
condition web-3 1000 '256:0 256:0 256:0' '160' 1001
