// Package git says what is known of the files that a run works on: of the repository that they are in.
//
// git is asked with one command that changes nothing, for at most as long as the caller's context lives. What is in a
// repository may be hostile, and so may be what a model wrote beside it: nothing that its configuration names is run, as
// far as that can be switched off, and git itself refuses repositories of other people.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/engine"
)

const (
	maxFiles  = 200     // named in a reading; the others are counted
	maxOutput = 1 << 20 // bytes of git's answer that are read
)

// Look reads the state of the repository that a folder is in: its branch, its commit, and which files of the folder are not
// as they were committed. It returns nil when the folder is in no repository, and says why when git does not answer. It
// never fails.
func Look(ctx context.Context, folder string) *engine.Workspace {
	if !inRepository(folder) {
		return nil
	}
	w := &engine.Workspace{At: time.Now().UTC().Truncate(time.Second), Files: []engine.FileChange{}}
	out, cut, err := status(ctx, folder)
	if err != nil {
		w.Problem = problem(ctx, err)
		return w
	}
	read(w, out)
	if cut {
		w.Problem = fmt.Sprintf("git named more files than %d KiB hold", maxOutput>>10)
	}
	return w
}

// inRepository looks for a .git in the folder and above it, which costs nothing where there is none.
func inRepository(folder string) bool {
	dir, err := filepath.Abs(folder)
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		above := filepath.Dir(dir)
		if above == dir {
			break
		}
		dir = above
	}
	return false
}

// status asks git. Of an answer that is too long only the beginning is returned.
func status(ctx context.Context, folder string) (out []byte, cut bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git",
		"-c", "core.fsmonitor=false", // it may name a program
		"-c", "safe.bareRepository=explicit", // a folder that looks like one is none
		"status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames", "--no-ahead-behind", "--", ".")
	cmd.Dir, cmd.Env = folder, environment(os.Environ())
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
	out, err = io.ReadAll(io.LimitReader(pipe, maxOutput+1))
	if cut = len(out) > maxOutput; cut {
		cancel() // nobody reads the rest
		_ = cmd.Wait()
		return out[:maxOutput], true, nil
	}
	if err := errors.Join(err, cmd.Wait()); err != nil {
		if text := strings.TrimSpace(said.String()); text != "" {
			return nil, false, errors.New(text)
		}
		return nil, false, err
	}
	return out, false, nil
}

// environment is what git gets: not where another command that runs windlass has told it to work.
func environment(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	return append(out, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

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

func problem(ctx context.Context, err error) string {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "there is no git on PATH"
	case ctx.Err() != nil:
		return "git did not answer in time"
	default:
		return err.Error()
	}
}

// read takes what git status says. Its records end with a NUL: headers with "#", and a line for each file.
func read(w *engine.Workspace, out []byte) {
	for record := range strings.SplitSeq(string(out), "\x00") {
		kind, rest, _ := strings.Cut(record, " ")
		switch kind {
		case "#":
			header(w, rest)
		case "?":
			add(w, rest, "untracked")
		case "1":
			// XY sub mH mI mW hH hI path
			if f := strings.SplitN(rest, " ", 8); len(f) == 8 {
				add(w, f[7], changes(f[0]))
			}
		case "u":
			// XY sub m1 m2 m3 mW h1 h2 h3 path
			if f := strings.SplitN(rest, " ", 10); len(f) == 10 {
				add(w, f[9], "unmerged")
			}
		}
	}
}

func header(w *engine.Workspace, rest string) {
	name, value, _ := strings.Cut(rest, " ")
	switch {
	case name == "branch.oid" && value != "(initial)":
		w.Head = value
	case name == "branch.head" && value != "(detached)":
		w.Branch = value
	}
}

func add(w *engine.Workspace, path, change string) {
	if len(w.Files) == maxFiles {
		w.More++
		return
	}
	w.Files = append(w.Files, engine.FileChange{Path: path, Change: change})
}

// changes says what became of a file, by the two letters of git: in the index, and in the folder.
func changes(xy string) string {
	words := map[byte]string{'M': "modified", 'T': "modified", 'A': "added", 'D': "deleted"}
	for i := len(xy) - 1; i >= 0; i-- { // the folder has the last word
		if word, ok := words[xy[i]]; ok {
			if word == "modified" && xy[0] == 'A' {
				return "added"
			}
			return word
		}
	}
	return "changed"
}
