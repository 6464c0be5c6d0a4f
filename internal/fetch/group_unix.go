//go:build unix

package fetch

import (
	"os/exec"
	"syscall"
)

// killGroup has a cancelled command end together with the processes that it started.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
