WARMUP_S=5 WORK_S=37 INTERVAL_S=3 SAMPLES=8
CLIENTS=4 THINK_MS=200 SITE_FILES=2048
busy_guests 8
condition overcommit-1-1ms 1000 '256:0' '' 1003
condition overcommit-8-10ms 10000 '256:0 256:0 256:0 256:0 256:0 256:0 256:0 256:0' '' 1003
condition overcommit-7-10ms 10000 '256:0 256:0 256:0 256:0 256:0 256:0 256:0' '' 1003
condition cap-25-of-1 1000 '256:25' '' 1003
condition overcommit-4-10ms 10000 '256:0 256:0 256:0 256:0' '' 1003
condition overcommit-5-10ms 10000 '256:0 256:0 256:0 256:0 256:0' '' 1003
condition overcommit-1-10ms 10000 '256:0' '' 1003
condition overcommit-6-10ms 10000 '256:0 256:0 256:0 256:0 256:0 256:0' '' 1003
condition overcommit-7-1ms 1000 '256:0 256:0 256:0 256:0 256:0 256:0 256:0' '' 1003
condition cap-50-of-1 1000 '256:50' '' 1003
condition overcommit-5-1ms 1000 '256:0 256:0 256:0 256:0 256:0' '' 1003
condition overcommit-3-10ms 10000 '256:0 256:0 256:0' '' 1003
condition weights-256-256-1024 1000 '256:0 256:0 1024:0' '' 1003
condition cap-25-of-2 1000 '256:25 256:0' '' 1003
condition overcommit-8-1ms 1000 '256:0 256:0 256:0 256:0 256:0 256:0 256:0 256:0' '' 1003
condition overcommit-2-10ms 10000 '256:0 256:0' '' 1003
condition overcommit-4-1ms 1000 '256:0 256:0 256:0 256:0' '' 1003
condition overcommit-6-1ms 1000 '256:0 256:0 256:0 256:0 256:0 256:0' '' 1003
condition overcommit-2-1ms 1000 '256:0 256:0' '' 1003
condition weights-256-512 1000 '256:0 512:0' '' 1003
condition cap-50-of-2 1000 '256:50 256:0' '' 1003
condition overcommit-3-1ms 1000 '256:0 256:0 256:0' '' 1003
