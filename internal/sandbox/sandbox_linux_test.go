//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The test binary is also what is confined: it tries what its arguments say and prints how that
// went.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "__try" {
		fmt.Println(outcome(try(os.Args[2], os.Args[3:])))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func outcome(err error) string {
	if err == nil {
		return "done"
	}
	return err.Error()
}

func try(what string, args []string) error {
	switch what {
	case "read":
		_, err := os.ReadFile(args[0])
		return err
	case "list":
		_, err := os.ReadDir(args[0])
		return err
	case "write":
		return os.WriteFile(args[0], []byte("x"), 0o600)
	case "truncate":
		return os.Truncate(args[0], 0)
	case "rename":
		return os.Rename(args[0], args[1])
	case "link":
		return os.Link(args[0], args[1])
	case "remove":
		return os.Remove(args[0])
	case "run":
		return exec.Command(args[0], args[1:]...).Run()
	case "listen":
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", args[0])
		if err == nil {
			err = l.Close()
		}
		return err
	case "connect":
		c, err := new(net.Dialer).DialContext(context.Background(), args[0], args[1])
		if err == nil {
			err = c.Close()
		}
		return err
	case "socket":
		fd, err := unix.Socket(number(args[0]), number(args[1]), number(args[2]))
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	case "io_uring":
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
		return errno
	case "signal":
		return unix.Kill(number(args[0]), 0)
	}
	return errors.New("unknown attempt " + what)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err) // the test's own argument
	}
	return n
}

// confined runs one attempt in a process with the policy, to which it adds what the test binary
// itself needs to run.
func confined(t *testing.T, p Policy, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p.Execute = append(p.Execute, self)
	programs, libraries, err := Loader(self)
	require.NoError(t, err)
	p.Execute, p.Read = append(p.Execute, programs...), append(p.Read, libraries...)
	cmd := exec.Command(self, append([]string{"__try"}, args...)...)
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer func() { require.NoError(t, null.Close()) }()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, w, w
	exited, err := Start(cmd, p)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	var out bytes.Buffer
	_, err = io.Copy(&out, r)
	require.NoError(t, err)
	require.NoError(t, <-exited, out.String())
	return strings.TrimSpace(out.String())
}

func TestEverythingIsConfinedHere(t *testing.T) {
	t.Parallel()
	require.Empty(t, Missing(), "the tests of this package need a kernel that can confine everything")
}

func TestFiles(t *testing.T) {
	t.Parallel()
	inside, outside := t.TempDir(), t.TempDir()
	p := Policy{Write: []string{inside}}
	in, out := filepath.Join(inside, "file"), filepath.Join(outside, "file")
	require.NoError(t, os.WriteFile(in, []byte("in"), 0o600))
	require.NoError(t, os.WriteFile(out, []byte("out"), 0o600))
	require.NoError(t, os.Symlink(out, filepath.Join(inside, "link")))
	for _, args := range [][]string{
		{"read", in},
		{"list", inside},
		{"write", in},
		{"write", filepath.Join(inside, "new")},
		{"truncate", in},
		{"rename", filepath.Join(inside, "new"), filepath.Join(inside, "newer")},
		{"remove", filepath.Join(inside, "newer")},
	} {
		require.Equal(t, "done", confined(t, p, args...), args)
	}
	for _, args := range [][]string{
		{"read", out},
		{"list", outside},
		{"write", out},
		{"write", filepath.Join(outside, "new")},
		{"truncate", out},
		{"rename", in, filepath.Join(outside, "moved")},
		{"rename", out, filepath.Join(inside, "moved")},
		{"link", out, filepath.Join(inside, "hard")},
		{"remove", out},
		{"read", filepath.Join(inside, "link")},
		{"read", "/etc/passwd"},
		{"read", fmt.Sprintf("/proc/%d/environ", os.Getpid())},
	} {
		require.Regexp(t, "(permission denied|operation not permitted|invalid cross-device link)$", confined(t, p, args...), args)
	}
	require.FileExists(t, out)
	require.Equal(t, "done", confined(t, Policy{Read: []string{out}}, "read", out))
	require.Contains(t, confined(t, Policy{Read: []string{out}}, "write", out), "permission denied")
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	require.Contains(t, confined(t, Policy{Read: []string{"/"}}, "run", "/bin/sh", "-c", "true"), "permission denied")
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := free.Addr().(*net.TCPAddr).Port
	require.NoError(t, free.Close())
	dir := t.TempDir()
	u, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = u.Close() })

	p := Policy{Listen: []uint16{uint16(port)}, Write: []string{dir}}
	require.Equal(t, "done", confined(t, p, "listen", "127.0.0.1:"+strconv.Itoa(port)))
	for name, args := range map[string][]string{
		"another port":   {"listen", "127.0.0.1:0"},
		"a TCP server":   {"connect", "tcp", l.Addr().String()},
		"a UDP address":  {"connect", "udp", "127.0.0.1:53"},
		"a unix socket":  {"connect", "unix", filepath.Join(dir, "s")},
		"a raw socket":   {"socket", strconv.Itoa(unix.AF_INET), strconv.Itoa(unix.SOCK_RAW), strconv.Itoa(unix.IPPROTO_ICMP)},
		"multipath TCP":  {"socket", strconv.Itoa(unix.AF_INET), strconv.Itoa(unix.SOCK_STREAM), strconv.Itoa(unix.IPPROTO_MPTCP)},
		"packets":        {"socket", strconv.Itoa(unix.AF_PACKET), strconv.Itoa(unix.SOCK_RAW), "0"},
		"virtual hosts":  {"socket", strconv.Itoa(unix.AF_VSOCK), strconv.Itoa(unix.SOCK_STREAM), "0"},
		"kernel crypto":  {"socket", strconv.Itoa(unix.AF_ALG), strconv.Itoa(unix.SOCK_SEQPACKET), "0"},
		"kernel's rings": {"io_uring"},
		"a signal":       {"signal", strconv.Itoa(os.Getpid())},
	} {
		require.Regexp(t, "(permission denied|operation not permitted)$", confined(t, p, args...), name)
	}
	require.Equal(t, "done", confined(t, p, "socket", strconv.Itoa(unix.AF_INET), strconv.Itoa(unix.SOCK_STREAM), strconv.Itoa(unix.IPPROTO_TCP)))
	require.Equal(t, "done", confined(t, p, "socket", strconv.Itoa(unix.AF_NETLINK), strconv.Itoa(unix.SOCK_RAW), "0"))
}

// TestFirstThreadStaysFree: however often a thread is confined, and whatever the first one is busy
// with, a confined process cannot look into this one.
func TestFirstThreadStaysFree(t *testing.T) {
	t.Parallel()
	for range 20 {
		done := make(chan bool)
		onThread(func() { done <- isFirstThread() })
		require.False(t, <-done)
	}
	require.Regexp(t, "permission denied$", confined(t, Policy{Read: []string{"/proc"}}, "read", fmt.Sprintf("/proc/%d/environ", os.Getpid())))
}

func TestStartNeedsStreams(t *testing.T) {
	t.Parallel()
	_, err := Start(exec.Command("/bin/true"), Policy{})
	require.ErrorIs(t, err, ErrNoFiles)
}

func TestThisProcessStaysFree(t *testing.T) {
	t.Parallel()
	confined(t, Policy{}, "read", "/etc/passwd")
	_, err := os.ReadFile("/etc/passwd")
	require.NoError(t, err)
}

func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		abi     int
		seccomp bool
		want    []string
	}{
		{0, true, []string{
			"files and programs: the kernel has no Landlock (Linux 5.13 or newer, and landlock in its list of security modules)",
			"TCP connections: the kernel's Landlock is too old (Linux 6.7 or newer)",
		}},
		{2, true, []string{
			"truncating files: the kernel's Landlock is too old (Linux 6.2 or newer)",
			"TCP connections: the kernel's Landlock is too old (Linux 6.7 or newer)",
		}},
		{3, false, []string{
			"TCP connections: the kernel's Landlock is too old (Linux 6.7 or newer)",
			"sockets other than TCP: the kernel has no seccomp filters",
		}},
		{4, true, nil},
		{99, true, nil},
	} {
		require.Equal(t, c.want, missing(c.abi, c.seccomp))
	}
}
