# Runs on the far side of a connection for as long as a run needs the host. Takes orders, a line each, and ends everything that
# the run has started there when its input ends: the harness may be killed and the connection lost at any time.
# $1: folder of the run on this host, and mark of its processes. $2: seconds without an order after which the harness is gone.
dir=$1 silence=$2
umask 077
trap '' HUP INT TERM PIPE

left() { grep -laFs "VIRTPERF_RUN=$dir" /proc/[0-9]*/environ; }

send() {
  for file in $(left); do
    process=${file#/proc/}
    kill -s "$1" "${process%/environ}" 2>/dev/null
  done
}

clear_away() {
  send TERM
  n=0
  while [ -n "$(left)" ] && [ "$n" -lt 20 ]; do
    sleep 0.1 2>/dev/null || sleep 1
    n=$((n + 1))
  done
  while [ -n "$(left)" ] && [ "$n" -lt 100 ]; do
    send KILL
    sleep 0.1 2>/dev/null || sleep 1
    n=$((n + 1))
  done
  rm -rf "$dir"
}

# Ticks of processor time of all that the run has started here, of this script, and of the sshd behind it, which inherits what
# has ended.
spent() {
  sum=0
  for file in $(left | sed 's/environ$/stat/') "/proc/$$/stat" "/proc/$PPID/stat"; do
    read -r line 2>/dev/null <"$file" || continue
    set -- ${line##*) }
    sum=$((sum + ${12} + ${13} + ${14} + ${15}))
  done
  echo "$sum"
}

clear_away # what an interrupted run has left
mkdir "$dir" "$dir/.root" "$dir/.started" || exit 1
(
  while sleep "$silence" && [ -e "$dir/.started/heard" ]; do
    rm -f "$dir/.started/heard"
  done
  [ -d "$dir" ] || exit
  kill -s KILL $$
  clear_away
) </dev/null >/dev/null 2>&1 &
watch=$!
: >"$dir/.started/heard"
echo ready
while read -r order first second; do
  : >"$dir/.started/heard"
  case $order in
  clock) date +%s.%N ;;
  processors) echo "$(head -n 1 /proc/stat) of $(grep -c '^cpu[0-9]' /proc/stat) $(spent)" ;;
  signal) kill -s "$first" -- "-$(cat "$dir/.started/$second")" 2>/dev/null ;;
  esac
done
kill -s KILL "$watch" 2>/dev/null
clear_away
