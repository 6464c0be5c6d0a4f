package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"time"
)

// command is how git is called.
type command struct {
	dir string
	env []string
}

// passed are the variables that git gets: what any program needs to start, and where the person's
// configuration is. Another could hold a secret, or say where git works and what it runs.
var passed = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR",
	"SystemRoot", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "ProgramData", "PATHEXT", "TEMP", "TMP", // of Windows
}

// environment is that of every call of git, which never fetches, asks nobody, and takes no locks.
func environment(lookup func(string) (string, bool)) []string {
	var out []string
	for _, name := range passed {
		if v, ok := lookup(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return append(out, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none") // older versions do not know the one before
}

// read returns what git prints: its first bytes, if it is cut because it has more than most.
func (c command) read(ctx context.Context, most int, args ...string) (out []byte, cut bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager"}, args...)...)
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.WaitDelay = 100 * time.Millisecond
	var said bytes.Buffer
	cmd.Stderr = &limited{w: &said, left: 500}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, false, err
	}
	if err := cmd.Start(); err != nil {
		return nil, false, err
	}
	out, err = io.ReadAll(io.LimitReader(pipe, int64(most)+1))
	if cut = len(out) > most; cut {
		cancel() // nobody reads the rest
		_ = cmd.Wait()
		return out[:most], true, nil
	}
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return nil, false, &saidError{text: strings.TrimSpace(said.String()), err: err}
	}
	return out, false, nil
}

// saidError is a failed call, with what git said of it.
type saidError struct {
	text string
	err  error
}

func (e *saidError) Error() string {
	if e.text != "" {
		return e.text
	}
	return e.err.Error()
}

func (e *saidError) Unwrap() error { return e.err }

// limited writes the beginning of what it is given, and takes the rest.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.left -= n
	if _, err := l.w.Write(b[:n]); err != nil {
		return 0, err
	}
	return len(b), nil
}
