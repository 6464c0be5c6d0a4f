//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data: the lower half of an argument, little-endian, is first.
const (
	offsetCall     = 0
	offsetArch     = 4
	offsetFamily   = 16 // the first argument of socket
	offsetType     = 24
	offsetProtocol = 32
)

// socketTypes masks the flags out of a socket's type.
const socketTypes = 0xf

// x32 marks the calls of a second interface of amd64, by whose numbers the filter would be passed.
const x32 = 0x40000000

// filterSockets leaves TCP sockets, which Landlock bounds, and the kernel's list of interfaces. It
// refuses others, calls of another architecture, and io_uring, which makes sockets past it.
func filterSockets() error {
	prog := socketFilter(runtime.GOARCH)
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]} //nolint:gosec // a few instructions
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&fprog)), 0, 0)
	runtime.KeepAlive(prog)
	if err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	return nil
}

// socketFilter returns the filter as BPF. Jumps count from the next instruction on.
func socketFilter(goarch string) []unix.SockFilter {
	arch := uint32(unix.AUDIT_ARCH_X86_64)
	if goarch == "arm64" {
		arch = unix.AUDIT_ARCH_AARCH64
	}
	load := func(offset uint32) unix.SockFilter { return stmt(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset) }
	const (
		deny  = 18
		allow = 19
	)
	to := func(from, target int) uint8 { return uint8(target - from - 1) } //nolint:gosec // fewer than 20 instructions
	return []unix.SockFilter{
		0:     load(offsetArch),
		1:     when(unix.BPF_JEQ, arch, 1, 0),
		2:     stmt(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_KILL_PROCESS),
		3:     load(offsetCall),
		4:     when(unix.BPF_JGE, x32, to(4, deny), 0),
		5:     when(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, to(5, deny), 0),
		6:     when(unix.BPF_JEQ, unix.SYS_SOCKET, 0, to(6, allow)),
		7:     load(offsetFamily),
		8:     when(unix.BPF_JEQ, unix.AF_NETLINK, to(8, allow), 0),
		9:     when(unix.BPF_JEQ, unix.AF_INET, 1, 0),
		10:    when(unix.BPF_JEQ, unix.AF_INET6, 0, to(10, deny)),
		11:    load(offsetType),
		12:    stmt(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, socketTypes),
		13:    when(unix.BPF_JEQ, unix.SOCK_STREAM, 0, to(13, deny)),
		14:    load(offsetProtocol),
		15:    when(unix.BPF_JEQ, 0, to(15, allow), 0),
		16:    when(unix.BPF_JEQ, unix.IPPROTO_TCP, to(16, allow), 0),
		17:    stmt(unix.BPF_JMP|unix.BPF_JA, 0), // any other protocol of streams, such as MPTCP, is outside of Landlock
		deny:  stmt(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(unix.EACCES)),
		allow: stmt(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW),
	}
}

func stmt(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func when(test uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jt: yes, Jf: no}
}
