package git

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// standIn is the git folder that stands in for that of a repository. Nobody else can write into it.
type standIn struct {
	dir  string
	repo *repository
}

// maxRules bounds the size of a file with names to ignore, or with attributes.
const maxRules = 1 << 20

// newStandIn makes the folder. It holds nothing that could name a program.
func newStandIn(r *repository) (*standIn, error) {
	dir, err := os.MkdirTemp("", "windlass-git-")
	if err != nil {
		return nil, err
	}
	s := &standIn{dir: dir, repo: r}
	if err := s.fill(); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
}

func (s *standIn) fill() error {
	for _, name := range []string{"refs", "info"} {
		if err := os.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil {
			return err
		}
	}
	head := s.repo.head
	if head == "" {
		head = "ref: refs/heads/" + firstBranch
	}
	files := map[string]string{"HEAD": head + "\n", "config": s.config()}
	for _, name := range []string{"info/exclude", "info/attributes"} {
		text, err := readRules(filepath.Join(s.repo.common, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return s.linkSharedIndexes()
}

// firstBranch is the name of the branch of a stand-in without a commit. What it is called makes no
// difference.
const firstBranch = "none"

// config returns the configuration: what says how files are compared.
func (s *standIn) config() string {
	var b strings.Builder
	version, excludes := 0, ""
	for _, set := range s.repo.settings {
		section, name, _ := strings.Cut(set.key, ".")
		switch set.key {
		case "extensions.objectformat":
			version = 1
		case "core.excludesfile":
			excludes = set.value
			continue
		}
		fmt.Fprintf(&b, "[%s]\n\t%s = %s\n", section, name, quoted(set.value))
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryformatversion = %d\n\tbare = false\n\tfsmonitor = false\n", version)
	if path := excludesFile(excludes); path != "" {
		fmt.Fprintf(&b, "\texcludesFile = %s\n", quoted(path))
	}
	return b.String()
}

// excludesFile returns the file with what all repositories of a person ignore: the configured one,
// or where git looks. "~/" is the person's home, of which git does not know.
func excludesFile(value string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(value, "~/"); ok && err == nil {
		return filepath.Join(home, rest)
	}
	if value != "" {
		return value
	}
	dir := os.Getenv("XDG_CONFIG_HOME")
	if dir == "" && err == nil {
		dir = filepath.Join(home, ".config")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "git", "ignore")
}

func quoted(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// readRules returns a file's text, "" when it is no ordinary file of a sensible size.
func readRules(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRules {
		return "", nil // most repositories have none
	}
	file, err := os.Open(path)
	if err != nil {
		return "", nil // git could not read it either
	}
	defer file.Close() //nolint:errcheck // only read from
	text, err := io.ReadAll(io.LimitReader(file, maxRules))
	return string(text), err
}

// linkSharedIndexes has git find the parts of a split index, beside its configuration.
func (s *standIn) linkSharedIndexes() error {
	entries, _ := os.ReadDir(s.repo.dir) // git says what it cannot read
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "sharedindex.") {
			continue
		}
		if err := os.Symlink(filepath.Join(s.repo.dir, e.Name()), filepath.Join(s.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// git returns how git is called in a folder of the working tree, with no configuration but its own.
func (s *standIn) git(folder string) command {
	home := func(name string) (string, bool) {
		switch name {
		case "HOME", "XDG_CONFIG_HOME", "USERPROFILE":
			return s.dir, true
		case "HOMEDRIVE", "HOMEPATH", "APPDATA":
			return "", false
		}
		return os.LookupEnv(name)
	}
	return command{dir: folder, env: append(environment(home),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_DIR="+s.dir, "GIT_WORK_TREE="+s.repo.top,
		"GIT_INDEX_FILE="+filepath.Join(s.repo.dir, "index"), "GIT_OBJECT_DIRECTORY="+filepath.Join(s.repo.common, "objects"),
	)}
}

func (s *standIn) remove() error { return os.RemoveAll(s.dir) }
