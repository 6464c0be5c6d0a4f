//go:build amd64 || arm64

// Package sandboxtest makes this system one that cannot confine processes, for tests of what
// windlass says and does there.
package sandboxtest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/windlass-run/windlass/internal/environment"
)

// RunWithoutLandlock replaces this process by the program that os.Args names, for which the kernel
// has no Landlock: its first call answers as on a kernel that does not know it. It returns only
// when that fails.
func RunWithoutLandlock() {
	fmt.Fprintln(os.Stderr, runWithoutLandlock(os.Args[1:]))
	os.Exit(125)
}

func runWithoutLandlock(args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_LANDLOCK_CREATE_RULESET, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]} //nolint:gosec // four instructions
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&filter)), 0, 0); err != nil {
		return err
	}
	runtime.KeepAlive(program)
	return unix.Exec(path, args, append(os.Environ(), environment.Hidden()...)) // as if nothing stood between
}
