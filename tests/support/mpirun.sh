#!/bin/bash
# Runs a program on several ranks of this machine, as tests need it:
#
#   mpirun.sh RANKS PROGRAM [ARGUMENT...]
#
# More ranks than cores, no binding to cores, shared memory only, and nothing
# that needs a network, a home or a long temporary path. Exits as mpirun does.
set -eu
ranks=$1
shift

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
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
# Its hints on how to submit a bug report would hide our last line.
export OMPI_MCA_orte_base_help_aggregate=1

# Signals for this script are meant for mpirun.
mpirun -n "$ranks" "$@" &
mpirun=$!
trap 'kill -TERM $mpirun 2>/dev/null' TERM
trap 'kill -INT $mpirun 2>/dev/null' INT
code=0
wait $mpirun || code=$?
# A signal ends the first wait early.
while kill -0 $mpirun 2>/dev/null; do
  code=0
  wait $mpirun || code=$?
done
exit $code
