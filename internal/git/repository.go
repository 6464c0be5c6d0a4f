package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// repository is where git keeps what it knows of a folder, and how it is to compare the files.
type repository struct {
	top      string // the folder with the .git
	dir      string // of git, for this working tree
	common   string // of git, for all working trees of the repository
	branch   string // "" when no branch is checked out
	head     string // the commit that is checked out; "" before the first one
	settings []setting
}

// setting says how files are compared, and names no program.
type setting struct{ key, value string }

// commitForm is the form of a commit's name.
var commitForm = compiled(`^[0-9a-f]{40,64}$`)

// find asks git for the repository whose .git is in the folder top. Every command here only prints
// what it reads; git refuses repositories of another user.
func find(ctx context.Context, top string) (*repository, error) {
	env := append(environment(os.LookupEnv), "GIT_CEILING_DIRECTORIES="+filepath.Dir(top))
	ask := func(args ...string) (string, error) {
		args = append([]string{"-c", "safe.bareRepository=explicit"}, args...) // a folder that looks like a repository is none
		out, cut, err := command{dir: top, env: env}.read(ctx, maxOutput, args...)
		if cut {
			err = fmt.Errorf("git %s printed more than %d KiB", args[2], maxOutput>>10)
		}
		return strings.TrimRight(string(out), "\r\n"), err
	}
	dirs, err := ask("rev-parse", "--absolute-git-dir", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	r := &repository{top: top}
	var ok bool
	if r.dir, r.common, ok = strings.Cut(dirs, "\n"); !ok {
		return nil, fmt.Errorf("git does not say where its folder for %s is", top)
	}
	if !filepath.IsAbs(r.common) {
		r.common = filepath.Join(top, r.common)
	}
	if r.branch, err = none(ask("symbolic-ref", "-q", "HEAD")); err != nil {
		return nil, err
	}
	r.branch = strings.TrimPrefix(r.branch, "refs/heads/")
	if r.head, err = none(ask("rev-parse", "-q", "--verify", "HEAD")); err != nil {
		return nil, err
	}
	if r.head != "" && !commitForm().MatchString(r.head) {
		return nil, errors.New("git does not say which commit is checked out")
	}
	list, err := ask("config", "--list", "-z")
	r.settings = settingsOf(list)
	return r, err
}

// none makes an empty answer of the exit status by which git says that there is none.
func none(out string, err error) (string, error) {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return "", nil
	}
	return out, err
}

// The settings that are taken over, and what they may say: which files count as changed and as
// ignored. By none of them does git run anything.
var (
	anyBool = compiled(`^(?i:true|false|yes|no|on|off|0|1|)$`)
	known   = map[string]func() *regexp.Regexp{
		"core.filemode": anyBool, "core.ignorecase": anyBool, "core.symlinks": anyBool, "core.trustctime": anyBool,
		"core.precomposeunicode": anyBool, "core.protecthfs": anyBool, "core.protectntfs": anyBool, "core.longpaths": anyBool,
		"core.autocrlf":           compiled(`^(?i:true|false|yes|no|on|off|0|1|input|)$`),
		"core.eol":                compiled(`^(?i:lf|crlf|native)$`),
		"core.checkstat":          compiled(`^(?i:default|minimal)$`),
		"core.excludesfile":       compiled(`^[^\x00-\x1f]+$`),
		"extensions.objectformat": compiled(`^(sha1|sha256)$`),
	}
)

// settingsOf returns what is taken over of "git config --list -z", in its order: later ones count
// more. A value follows a line break, a NUL each setting.
func settingsOf(list string) []setting {
	var out []setting
	for entry := range strings.SplitSeq(list, "\x00") {
		key, value, hasValue := strings.Cut(entry, "\n")
		form, ok := known[key]
		if !ok || !form().MatchString(value) {
			continue
		}
		if !hasValue {
			value = "true"
		}
		out = append(out, setting{key, value})
	}
	return out
}

// compiled returns a pattern that is compiled when it is first used: most commands use none.
func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
