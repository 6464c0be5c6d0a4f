//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The versions of Landlock's interface that added what is used here.
const (
	abiFiles    = 1
	abiRefer    = 2 // renames between folders
	abiTruncate = 3
	abiTCP      = 4
	abiDevices  = 5
	abiScopes   = 6
)

// ruleForPort is the kind of rule that grants a port; x/sys has no name for it.
const ruleForPort = 2

// fileRights are the rights that a rule for a file, not a folder, may grant.
const fileRights = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
	unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

const (
	readRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	execRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
)

// abi is the version of Landlock's interface, 0 without Landlock.
var abi = sync.OnceValue(func() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
})

// hasSeccomp reports whether the kernel has seccomp: only then is the invalid address read.
var hasSeccomp = sync.OnceValue(func() bool {
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, 0, 0, 0) == unix.EFAULT
})

// Missing says what this system cannot confine, one text for each kind of access.
func Missing() []string { return missing(abi(), hasSeccomp()) }

func missing(abi int, seccomp bool) []string {
	var m []string
	switch {
	case abi < abiFiles:
		m = append(m, "files and programs: the kernel has no Landlock (Linux 5.13 or newer, and landlock in its list of security modules)")
	case abi < abiTruncate:
		m = append(m, "truncating files: the kernel's Landlock is too old (Linux 6.2 or newer)")
	}
	if abi < abiTCP {
		m = append(m, "TCP connections: the kernel's Landlock is too old (Linux 6.7 or newer)")
	}
	if !seccomp {
		m = append(m, "sockets other than TCP: the kernel has no seccomp filters")
	}
	return m
}

// confineThread confines the calling thread, and with it what is started from it, for good.
func confineThread(p Policy) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if abi() >= abiFiles {
		if err := restrict(p); err != nil {
			return err
		}
	}
	if hasSeccomp() {
		return filterSockets()
	}
	return nil
}

// handled returns all rights to files that this kernel can withhold.
func handled(abi int) uint64 {
	rights := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM)<<1 - 1 // the 13 rights of the first version, up to the last
	if abi >= abiRefer {
		rights |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= abiTruncate {
		rights |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= abiDevices {
		rights |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return rights
}

// restrict has Landlock withhold everything that the policy does not grant. An older kernel knows
// only the beginning of the attributes, and takes the rest as long as it is zero.
func restrict(p Policy) (err error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled(abi())}
	if abi() >= abiTCP {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi() >= abiScopes {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("make Landlock rules: %w", errno)
	}
	ruleset := os.NewFile(fd, "landlock")
	defer func() { _ = ruleset.Close() }()
	if err := addRules(fd, p); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("apply Landlock rules: %w", errno)
	}
	return nil
}

func addRules(ruleset uintptr, p Policy) error {
	write := handled(abi()) &^ (unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV)
	for _, group := range []struct {
		paths  []string
		rights uint64
	}{{p.Read, readRights}, {p.Write, write}, {p.Execute, execRights}} {
		for _, path := range group.paths {
			if err := addPath(ruleset, path, group.rights); err != nil {
				return fmt.Errorf("grant %s: %w", path, err)
			}
		}
	}
	if abi() < abiTCP {
		return nil
	}
	for _, port := range p.Listen {
		rule := struct{ access, port uint64 }{unix.LANDLOCK_ACCESS_NET_BIND_TCP, uint64(port)}
		if errno := addRule(ruleset, ruleForPort, unsafe.Pointer(&rule)); errno != 0 {
			return fmt.Errorf("grant port %d: %w", port, errno)
		}
	}
	return nil
}

func addPath(ruleset uintptr, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT || err == unix.ENOTDIR {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & handled(abi()), Parent_fd: int32(fd)} //nolint:gosec // a descriptor is small
	if errno := addRule(ruleset, unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&rule)); errno != 0 {
		return errno
	}
	return nil
}

func addRule(ruleset uintptr, kind uintptr, rule unsafe.Pointer) unix.Errno {
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, ruleset, kind, uintptr(rule), 0, 0, 0)
	return errno
}

func isFirstThread() bool { return unix.Gettid() == unix.Getpid() }
