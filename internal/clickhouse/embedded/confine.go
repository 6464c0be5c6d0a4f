package embedded

import (
	"os"
	"path/filepath"

	"github.com/windlass-run/windlass/internal/sandbox"
)

// systemFiles are what ClickHouse, the C library and the Go runtime read of the system: facts about
// the machine, time zones, names. Nothing in them is a person's. Of other processes /proc shows a
// confined process only what it shows to everyone.
var systemFiles = []string{
	"/proc", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage", "/sys/block",
	"/etc/localtime", "/etc/timezone", "/usr/share/zoneinfo", "/etc/nsswitch.conf", "/etc/hosts", "/etc/host.conf", "/etc/resolv.conf",
	"/dev/urandom", "/dev/random", "/dev/zero",
}

// confinement is all that ClickHouse may reach: its data, which it writes, its configuration and
// the files that it is made of, which it reads, and its port. Neither the endpoint file with the
// password nor anything else in the engine's folder is in it.
func confinement(a serveArgs, program, config string, port int) (sandbox.Policy, error) {
	execute, libraries, err := sandbox.Loader(program)
	if err != nil {
		return sandbox.Policy{}, err
	}
	p := sandbox.Policy{
		Read:    append(append([]string{config, filepath.Join(a.dir, usersFile), a.engine.Path}, systemFiles...), libraries...),
		Write:   []string{dataPath(a.dir), os.DevNull},
		Execute: append([]string{program}, execute...),
		Listen:  []uint16{uint16(port)}, //nolint:gosec // a port
	}
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		p.Write = append(p.Write, dir)
	}
	return p, nil
}

// dataPath is the folder that ClickHouse's data is in.
func dataPath(dir string) string { return filepath.Join(dir, dataDir) }
