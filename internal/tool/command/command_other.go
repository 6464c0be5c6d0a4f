//go:build !unix

package command

import (
	"os"
	"os/exec"
)

func newCommand(string) (*exec.Cmd, error) { return nil, ErrUnsupported }

func terminate(int) {}

func kill(int) {}

func signalOf(*os.ProcessState) string { return "" }
