#!/bin/bash
# Runs a command in an environment in which mpirun works on any machine that
# tests run on:
#
#   with_mpi.sh mpirun -n 3 PROGRAM [ARGUMENT...]
#
# More ranks than cores, no binding to cores, shared memory only, and nothing
# that needs a network, a home or a short temporary path. Passes TERM and INT on
# to the command, and exits as it does.
set -eu

if [ "$(id -u)" = 0 ]; then
  # Containers and CI; mpirun refuses root otherwise.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# Open MPI puts sockets below TMPDIR, whose paths the kernel limits to 107 bytes.
scratch=$(mktemp -d /tmp/mpirun.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch HOME=$scratch
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
export OMPI_MCA_plm=isolated OMPI_MCA_oob_tcp_if_include=lo
export OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none
# Open MPI itself leaves memory behind at its end.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

"$@" &
command=$!
trap 'kill -TERM $command 2>/dev/null' TERM
trap 'kill -INT $command 2>/dev/null' INT
code=0
wait $command || code=$?
# A signal ends the first wait early.
while kill -0 $command 2>/dev/null; do
  code=0
  wait $command || code=$?
done
exit $code
