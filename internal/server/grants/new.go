package grants

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/llm/script"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/wholefile"
)

// ExistsError says that something has the name of a new file already.
type ExistsError struct{ Name string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("there is something with the name %s already, and it is not replaced", e.Name)
}

// HasRoots reports whether there are folders at all.
func (g *Grants) HasRoots() bool { return len(g.roots) > 0 }

// New returns a cascade file that is not there yet, in the first root that has its folder. [Grants.Save] creates it. The error
// is an [*ExistsError] when a root has something of that name.
func (g *Grants) New(name string) (*File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	inside, dir := filepath.FromSlash(name), filepath.FromSlash(path.Dir(name))
	for _, r := range g.roots {
		if _, err := r.Root.Lstat(inside); err == nil {
			return nil, &ExistsError{name}
		}
	}
	for _, r := range g.roots {
		if err := r.noLink(dir); err != nil {
			return nil, err
		}
		if info, err := r.Root.Stat(dir); err == nil && info.IsDir() {
			return &File{Name: name, root: r}, nil
		}
	}
	return nil, server.NewProblem(failure.InvalidRequest, "create the folder first, or name a file in one that is there",
		"there is no folder %s in the folders that this server was started with", path.Dir(name))
}

// checkName says why a cascade file of a list, or a new one, cannot have a name.
func checkName(name string) error {
	refuse := func(format string, args ...any) error {
		return server.NewProblem(failure.InvalidRequest, "a name such as report.json", format, args...)
	}
	_, hidden := excerpt.FirstHidden(name)
	switch {
	case name == "":
		return refuse("the new file has no name")
	case hidden:
		return refuse("the name has characters that are not seen")
	case !fs.ValidPath(name) || strings.Contains(name, "\\"):
		return refuse("%s is not a path below the folders of this server, which has no .., no \\ and no / at its begin or end", name)
	case !library.IsPath(name):
		return refuse("%s does not end in .json, .yaml or .yml", name)
	case cascade.IsToolFile(name), script.IsFile(name):
		return refuse("%s is the name of a file of a tool or of a script", name)
	case slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return !isListed(part) }):
		return refuse("%s has a part that begins with a dot or is node_modules, and such files are not listed", name)
	}
	return nil
}

// create writes a file that is not there yet.
func create(f *File, name string, text []byte) error {
	err := wholefile.WriteNewIn(f.root.Root, name, text)
	if errors.Is(err, fs.ErrExist) {
		return &ExistsError{f.Name}
	}
	return unsaved(f, err)
}
