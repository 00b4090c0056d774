WARMUP_S=5 WORK_S=37 INTERVAL_S=3 SAMPLES=8
CLIENTS=4 THINK_MS=200 SITE_FILES=2048
busy_guests 2
web_guest
condition balloon-160 1000 '256:0 256:0' '160' 1003
condition balloon-144 1000 '256:0 256:0' '144' 1003
condition balloon-112 1000 '256:0 256:0' '112' 1003
condition balloon-128 1000 '256:0 256:0' '128' 1003
