#!/usr/bin/env bash
# Emulates a network of nodes on one machine. A node is a network namespace with its own host name, connected to a
# bridge by a link with limited rates for sending and receiving. Needs root, iproute2 and Open MPI.
#
#   network.sh up NODES RATE          such as: up 4 2gbit
#   network.sh run RANKS COMMAND...   one rank per node; the ranks use only TCP over the links
#   network.sh rate                   measures the rate of a link in Mbit/s, from and to node 0
#   network.sh down
set -euo pipefail

SUBNET=10.213.7
BRIDGE=distalbr
node() { echo "distal-node$1"; }
address() { echo "$SUBNET.$(($1 + 1))"; }
nodes() { ip netns list | awk '{print $1}' | grep '^distal-node' || true; }

limit() {  # namespace or "", device, rate
  ${1:+ip netns exec "$1"} tc qdisc add dev "$2" root tbf rate "$3" burst 256kb latency 20ms
}

up() {
  local count=$1 rate=$2 i
  down
  ip link add "$BRIDGE" type bridge
  ip addr add "$SUBNET.254/24" dev "$BRIDGE"
  ip link set "$BRIDGE" up
  for ((i = 0; i < count; ++i)); do
    ip netns add "$(node "$i")"
    ip link add "distal$i" type veth peer name eth0 netns "$(node "$i")"
    ip link set "distal$i" master "$BRIDGE" up
    ip -n "$(node "$i")" addr add "$(address "$i")/24" dev eth0
    ip -n "$(node "$i")" link set eth0 up
    ip -n "$(node "$i")" link set lo up
    limit "$(node "$i")" eth0 "$rate"  # what the node sends
    limit "" "distal$i" "$rate"        # what it receives
  done
}

# Deletes links by name: the kernel deletes the links of a namespace later, when new ones may have the same name.
down() {
  local name
  for name in $(nodes); do
    ip link del "distal${name#distal-node}" 2>/dev/null || true
    ip netns del "$name"
  done
  ip link del "$BRIDGE" 2>/dev/null || true
}

# Replaces ssh for Open MPI: starts its daemon in the namespace of the named node, pinned to one core. Nodes share cores
# if there are more nodes than cores.
enter() {
  local name=$1 core
  core=$((${1#distal-node} % $(nproc)))
  shift
  # shellcheck disable=SC2016
  exec ip netns exec "$name" taskset -c "$core" unshare --uts bash -c 'hostname "$0" && eval "$1"' "$name" "$*"
}

run() {
  local ranks=$1 hosts="" i
  shift
  for ((i = 0; i < ranks; ++i)); do hosts+=${hosts:+,}$(node "$i"):1; done
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 exec mpirun --bind-to none --leave-session-attached \
    -np "$ranks" --host "$hosts" \
    --mca plm_rsh_agent "$self enter" --mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include "$SUBNET.0/24" \
    --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include "$SUBNET.0/24" "$@"
}

# Sends bytes from one node to another for 1.5 seconds, without MPI.
rate() {
  local pass
  for pass in "0 1" "1 0"; do
    # shellcheck disable=SC2086
    set -- $pass
    ip netns exec "$(node "$2")" python3 -c "
import socket, time
s = socket.create_server(('$(address "$2")', 5001)); c, _ = s.accept()
n = 0; c.recv(1 << 20); start = time.time()
while (got := len(c.recv(1 << 20))): n += got
print(f'node $1 to node $2: {8e-6 * n / (time.time() - start):.0f} Mbit/s')" &
    sleep 0.3
    ip netns exec "$(node "$1")" python3 -c "
import socket, time
s = socket.create_connection(('$(address "$2")', 5001)); end = time.time() + 1.5
while time.time() < end: s.sendall(bytes(1 << 20))"
    wait
  done
}

self=$(readlink -f "$0")
case "${1:-}" in
  up | down | run | rate | enter) "$@" ;;
  *)
    sed -n '2,9s/^# \{0,1\}//p' "$self"
    exit 2
    ;;
esac
