package grants

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/source"
)

// root is a folder whose cascades and files runs may use, through os.Root, which no link leaves.
type root struct {
	source.Folder
	tree *library.Tree
}

// RootError says that a folder cannot be opened.
type RootError struct {
	Path string
	Err  error
}

func (e *RootError) Error() string { return fmt.Sprintf("open the folder %s: %v", e.Path, e.Err) }
func (e *RootError) Unwrap() error { return e.Err }

// openRoots opens folders. When one cannot be opened none stays open.
func openRoots(paths []string) ([]root, error) {
	var out []root
	for _, p := range paths {
		one, err := source.OpenFolder(p)
		if err != nil {
			return nil, errors.Join(failure.New(failure.InvalidRequest, &RootError{p, err}, ""), closeRoots(out))
		}
		out = append(out, root{one, &library.Tree{FS: library.Rooted(one.Root), Name: one.Path, Searched: library.Searched}})
	}
	return out, nil
}

func closeRoots(roots []root) error {
	var errs []error
	for _, r := range roots {
		errs = append(errs, r.Root.Close())
	}
	return errors.Join(errs...)
}

func (g *Grants) find(file string) (root, string, error) {
	tried := false
	for _, r := range g.roots {
		inside, ok := r.inside(file)
		if !ok {
			continue
		}
		tried = true
		info, err := r.Root.Stat(inside)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return root{}, "", unreadableFile(file, err)
		case !info.Mode().IsRegular():
			return root{}, "", server.NewProblem(failure.InvalidRequest, "name a cascade's file", "%s is not a file", file)
		}
		return r, inside, nil
	}
	if !tried {
		return root{}, "", server.NewProblem(server.NotGranted, "name a file below a --root of the server",
			"%s is outside the folders that this server was started with", file)
	}
	return root{}, "", server.NewProblem(failure.InvalidRequest, "check the path; it is relative to a --root of the server",
		"there is no file %s in the folders that this server was started with", file)
}

// inside returns the path of a file relative to the root. Links are os.Root's business.
func (r root) inside(file string) (string, bool) {
	name := filepath.FromSlash(file)
	if strings.IndexByte(name, 0) >= 0 {
		return "", false
	}
	if !filepath.IsAbs(name) {
		name = filepath.Clean(name)
		return name, filepath.IsLocal(name)
	}
	for _, base := range []string{r.Path, r.Real} {
		if rel, err := filepath.Rel(base, filepath.Clean(name)); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// unreadableFile says of a file in a root why it cannot be read, and nothing of what is outside.
func unreadableFile(file string, err error) error {
	var pathErr *fs.PathError
	switch {
	case errors.As(err, &pathErr) && strings.Contains(pathErr.Err.Error(), "escapes"):
		return server.NewProblem(server.NotGranted, "name a file below a --root of the server",
			"a link in %s leads out of the folder that this server was started with", file)
	case errors.As(err, &pathErr):
		err = pathErr.Err
	}
	return server.NewProblem(failure.InvalidRequest, "check that the server may read the file", "%s cannot be read: %v", file, err)
}
