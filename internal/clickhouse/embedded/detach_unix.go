//go:build unix

package embedded

import (
	"os/exec"
	"syscall"
)

// restrictFiles makes what this process writes readable by its user only.
func restrictFiles() { syscall.Umask(0o077) }

// detach gives the child its own session, so that no terminal's signal and no end of this process reaches it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
