# Sourced by tests that start ranks: on one machine, as root in a container or not, and no network but
# this machine's own.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
export ASAN_OPTIONS=detect_leaks=0 # OpenMPI keeps some memory to its end

# ranks N FOLDER COMMAND...: N ranks of a command that makes FOLDER; what they say is in FOLDER.out and FOLDER.err.
# OpenMPI may lose track of a rank at the very end, when all is done ("PID 0 ... exiting improperly", once in some
# hundred runs on a busy machine); then they run again.
ranks() {
    ranks_n=$1 ranks_folder=$2; shift 2
    mpirun -n "$ranks_n" "$@" >"$ranks_folder.out" 2>"$ranks_folder.err" && return
    grep -q 'with PID 0 on' "$ranks_folder.err" || return 1
    rm -rf "$ranks_folder"
    mpirun -n "$ranks_n" "$@" >"$ranks_folder.out" 2>"$ranks_folder.err"
}

# Open MPI's processes find each other by the loopback interface. Where there is none (a network namespace that
# nobody set up), the test starts once more in a namespace of its own, which has one; where that is not allowed
# either, `no_ranks` says why ranks cannot be started.
loopback() { # up: sets it up, where it is not; else asks whether it is (ifconfig and ip may not be installed)
    python3 - "$@" 2>/dev/null <<'PY'
import fcntl, socket, struct, sys
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
flags = struct.unpack("16sH14x", fcntl.ioctl(s, SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0)))[1]
if not flags & IFF_UP:
    sys.argv[1:] == ["up"] or sys.exit(1)
    fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))
PY
}
no_ranks=
if [ -n "${SNIP_OWN_NETWORK:-}" ]; then
    loopback up
elif ! loopback && unshare -rn true 2>/dev/null; then
    SNIP_OWN_NETWORK=1 exec unshare -rn "$0" "$@"
fi
loopback || no_ranks="there is no loopback interface, which Open MPI needs"
