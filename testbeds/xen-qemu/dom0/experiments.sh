# What a plan consists of: guests are created once, then conditions follow one another. Times are those of dom0's clock.
# The plan sets WARMUP_S, WORK_S, INTERVAL_S and SAMPLES of xentop, CLIENTS, THINK_MS and SITE_FILES.

stamp() { echo "$1=$(echo | ts '%.s')"; }

create() { # name, memory in MiB, role, further lines of the domain's configuration
    cat >"/run/$1.cfg" <<END
name="$1"
type="pv"
kernel="/guest/vmlinux"
ramdisk="/guest/initrd"
extra="console=hvc0 rdinit=/init mitigations=off cryptomgr.notests quiet role=$3"
memory=$2
maxmem=$2
vcpus=1
on_poweroff="destroy"
on_crash="preserve"
$4
END
    xl create -q "/run/$1.cfg" || echo "FAILED: no guest $1" >&2
}

said() { # guest, text: wait until the guest's console shows it
    tries=0
    until grep -q "$2" "/var/log/xen/console/guest-$1.log" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -gt 300 ] && { echo "FAILED: $1 never said $2" >&2; return 1; }
        sleep 1
    done
}

ready() { # guest: wait for it, and give its console a name
    mkdir -p /tty
    said "$1" "guest ready" || return 1
    ln -s "$(xenstore-read "/local/domain/$(xl domid "$1")/console/tty")" "/tty/$1"
    echo "$1 ready after $(cut -d' ' -f1 /proc/uptime) s"
}

busy_guests() { # number
    for i in $(seq "$1"); do create "busy$i" 128 busy; done
    for i in $(seq "$1"); do ready "busy$i"; done
}

web_guest() { # the site lies on a RAM disk of dom0, so that a page that is not in the guest's cache costs a block request
    dd if=/dev/vdb of=/dev/ram0 bs=1M
    create web1 160 web 'vif=["mac=00:16:3e:00:00:01,bridge=xenbr0,script=vif"]
disk=["/dev/ram0,raw,xvda,r,script=block"]'
    ready web1
}

schedule() { # rate limit in us, "weight:cap" of each busy guest in order
    xl sched-credit2 -s -r "$1" >/dev/null
    i=0
    for pair in $2; do
        i=$((i + 1))
        xl sched-credit2 -d "busy$i" -w "${pair%:*}" -c "${pair#*:}"
    done
}

resize() { # memory of the web guest in MiB
    # the balloon driver takes free pages only and tries ever more rarely, so the page cache is emptied first
    echo 'echo 3 >/proc/sys/vm/drop_caches' >/tty/web1
    sleep 2
    xl mem-set web1 "$1"
    tries=0
    until [ "$(xl list web1 | awk 'END { print $3 }')" = "$1" ]; do
        tries=$((tries + 1))
        [ $tries -gt 60 ] && { echo "FAILED: web1 has not $1 MiB" >&2; return 1; }
        sleep 1
    done
}

condition() { # name, rate limit in us, "weight:cap" of each guest to be busy, web: memory in MiB or "", seed of clients
    echo "condition $1"
    out=/out/runs/$1
    mkdir -p "$out"
    schedule "$2" "$3"
    if [ -n "$4" ]; then
        resize "$4"
        echo "warm $1" >/tty/web1
        said web1 "warm $1 done"
    fi
    xl sched-credit2 >"$out/sched-credit2.txt"
    {
        if [ -n "$4" ]; then # while nothing else runs, so that both clocks are read at the same moment
            stamp clock
            echo "clock $1" >/tty/web1
        fi
        sleep 2
        stamp start
        i=0
        for pair in $3; do
            i=$((i + 1))
            echo "busy $1 $WORK_S" >"/tty/busy$i"
        done
        if [ -n "$4" ]; then
            echo "monitor $1 3 $((WORK_S / 3))" >/tty/web1
            webload 10.0.0.11 "$CLIENTS" "$THINK_MS" "$SITE_FILES" "$WORK_S" "$5" >"$out/webload.csv" &
        fi
        sleep "$WARMUP_S"
        xentop -b -f -d "$INTERVAL_S" -i "$SAMPLES" | tee "$out/xentop.txt" | ts '%.s' >/run/stamped
        sed -n 's/^\([0-9.]*\) *NAME .*/sample=\1/p' /run/stamped # when each sample was printed
        wait
        for g in $(seq $i); do said "busy$g" "end $1"; done
        [ -z "$4" ] || said web1 "end $1"
        stamp end
    } >"$out/times"
    schedule 1000 "$(echo "$3" | sed 's/[0-9]*:[0-9]*/256:0/g')"
}
