package memory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/internal/excerpt"
)

func (f Files) remove(_ *Command, path string) Result {
	if path == Root {
		return failed("Cannot delete the /memories directory itself")
	}
	if !f.exists(path) {
		return failed(fmt.Sprintf("Error: The path %s does not exist", path))
	}
	paths := f.at(path)
	changes := make([]Change, len(paths))
	for i, p := range paths {
		changes[i] = Change{Path: p, Gone: true}
	}
	return Result{Text: "Successfully deleted " + path, Changes: changes, Paths: paths}
}

// at returns the file at a path, or the files of the folder there, in order.
func (f Files) at(path string) []string {
	if f.isFile(path) {
		return []string{path}
	}
	return f.below(path)
}

func (f Files) rename(c *Command) Result {
	from, problem := cleanPath(c.OldPath)
	if problem != "" {
		return failed(problem)
	}
	to, problem := cleanPath(c.NewPath)
	if problem != "" {
		return failed(problem)
	}
	if problem := f.immovable(from, to); problem != "" {
		return failed(problem)
	}
	r := Result{Text: fmt.Sprintf("Successfully renamed %s to %s", from, to), Paths: []string{to}}
	for _, old := range f.at(from) {
		moved := to + old[len(from):]
		if wrong := wrongPath(moved); wrong != "" {
			return failed(fmt.Sprintf("Error: The file %s cannot be renamed to %s: %s", old, excerpt.Clip(moved, maxShown), wrong))
		}
		r.Changes = append(r.Changes, Change{Path: old, Gone: true}, Change{Path: moved, Text: f[old], From: old})
		r.Paths = append(r.Paths, old, moved)
	}
	slices.SortFunc(r.Changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(r.Paths)
	r.Paths = slices.Compact(r.Paths)
	return r
}

// immovable says why a file or a folder cannot be renamed.
func (f Files) immovable(from, to string) string {
	switch {
	case from == Root:
		return "Cannot rename the /memories directory itself"
	case f.exists(to):
		return fmt.Sprintf("Error: The destination %s already exists", to)
	case !f.exists(from):
		return fmt.Sprintf("Error: The path %s does not exist", from)
	case isBelow(to, from):
		return fmt.Sprintf("Error: The destination %s is in %s itself", to, from)
	}
	return f.noPlace(to)
}
