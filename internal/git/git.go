// Package git reads the state of the repository that a run works in.
//
// A repository may be hostile, and so may be what a model wrote into it. A configuration of git can
// name programs in many ways, and new versions add more, so no list of what to switch off is
// complete. So the command that compares files gets a git folder that is made for it, with settings
// that name no programs, the commit that is checked out and what is ignored; only the index and the
// objects are the repository's. Where those are, and the settings, commands of git say before that
// only print what they read. No command sees more of windlass's environment than it needs.
package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
)

const (
	maxFiles  = 200     // named in a reading; the others are counted
	maxOutput = 1 << 20 // bytes of git's answer that are read
)

// Look reads the state of the repository that a folder is in: its branch, its commit, and which
// files of the folder are not as committed. Filters are not run, so a file that a filter would
// change counts as modified once git has to read it. It returns nil for a folder in no repository;
// Problem says why git did not answer.
func Look(ctx context.Context, folder string) *echo.Workspace {
	top := inRepository(folder)
	if top == "" {
		return nil
	}
	w := &echo.Workspace{At: time.Now().UTC().Truncate(time.Second), Files: []echo.FileChange{}}
	if err := look(ctx, w, top, folder); err != nil {
		w.Problem = problem(ctx, err)
	}
	return w
}

// noRepository is what git says of a .git that is none, as an empty folder.
const noRepository = "not a git repository"

func look(ctx context.Context, w *echo.Workspace, top, folder string) (err error) {
	repo, err := find(ctx, top)
	for above := top; err != nil && strings.Contains(err.Error(), noRepository); {
		if above = inRepository(filepath.Dir(above)); above == "" {
			return err
		}
		if outer, outerErr := find(ctx, above); outerErr == nil {
			repo, err = outer, nil
		}
	}
	if err != nil {
		return err
	}
	w.Branch, w.Head = repo.branch, repo.head
	stand, err := newStandIn(repo)
	if err != nil {
		return fmt.Errorf("prepare the question to git: %w", err)
	}
	defer func() { err = errors.Join(err, stand.remove()) }()
	out, cut, err := stand.git(folder).read(ctx, maxOutput,
		"status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames", "--", ".")
	if err != nil {
		return err
	}
	read(w, out)
	if cut {
		return fmt.Errorf("git named more files than %d KiB hold", maxOutput>>10)
	}
	return nil
}

// inRepository returns the nearest folder, from the given one upwards, that has a .git; "": none.
func inRepository(folder string) string {
	dir, err := filepath.Abs(folder)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	for above := ""; err == nil && dir != above; dir, above = filepath.Dir(dir), dir {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
	}
	return ""
}

// tooOld is what a git says that does not know an option.
var tooOld = compiled(`(?i)unknown (option|switch)|unsupported porcelain version`)

func problem(ctx context.Context, err error) string {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "there is no git on PATH"
	case ctx.Err() != nil:
		return "git did not answer in time"
	case tooOld().MatchString(err.Error()):
		return "the git on PATH is too old: version 2.18 or later is needed"
	default:
		return err.Error()
	}
}

// read reads the answer of git status: a record for each file, which ends with a NUL.
func read(w *echo.Workspace, out []byte) {
	for record := range strings.SplitSeq(string(out), "\x00") {
		kind, rest, _ := strings.Cut(record, " ")
		switch kind {
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

func add(w *echo.Workspace, path, change string) {
	if len(w.Files) == maxFiles {
		w.More++
		return
	}
	w.Files = append(w.Files, echo.FileChange{Path: path, Change: change})
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
