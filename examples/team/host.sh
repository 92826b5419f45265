# A host with a driver and its supervisor, which starts the driver again whenever it ends, as Restart=always does.
#
#   bash host.sh NAME CONTROL [apart]
#
# apart: it has namespaces of its own (unshare), in which it is called NAME. SIGTERM ends both in order: the driver finishes its
# batches and releases its lease.
set -euo pipefail
driver=
trap 'kill -TERM "$driver"; wait "$driver" || true; exit' TERM
if [ "${3:-}" = apart ]; then
  hostname "$1"
  cp /etc/hosts hosts
  echo "127.0.0.1 $1" >>hosts
  mount --bind hosts /etc/hosts
fi
while true; do
  echo "--- $(hostname) starts a driver"
  flareiac driver -wait "$2" &
  driver=$! code=0
  wait "$driver" || code=$?
  echo "--- the driver ended with $code"
  sleep 1
done
