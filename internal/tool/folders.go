package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/protection"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/source"
)

// folders are the granted folders. All access goes through os.Root: links never lead out.
type folders struct {
	roots   []folder
	private []string          // absolute; see isPrivate
	rules   *protection.Rules // for what is written
	secrets *secret.Set       // taken out of a text before it is cut: afterwards a part of one is not found
}

type folder struct {
	source.Folder
	info fs.FileInfo
	own  bool // the session's: what is above it is nobody's choice
}

func openFolders(o Options) (*folders, error) {
	rules, err := protection.New(o.ProtectPaths, o.AllowWrite)
	if err != nil {
		return nil, err
	}
	f := &folders{rules: rules}
	granted := slices.Clone(o.Roots)
	if o.Work != "" {
		granted = append(granted, o.Work)
	}
	if len(granted) == 0 {
		granted = []string{"."}
	}
	for _, p := range granted {
		one, err := openFolder(p)
		if err != nil {
			return nil, errors.Join(&FolderError{p, err}, f.close())
		}
		one.own = p == o.Work
		f.roots = append(f.roots, one)
	}
	for _, p := range o.Private {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("find private folder %q: %w", p, err), f.close())
		}
		f.private = append(f.private, abs)
	}
	return f, nil
}

func openFolder(path string) (folder, error) {
	f, err := source.OpenFolder(path)
	if errors.Is(err, fs.ErrNotExist) {
		return folder{}, errors.New("there is no such folder")
	}
	if err != nil {
		return folder{}, err
	}
	info, err := f.Root.Stat(".")
	if err != nil {
		return folder{}, errors.Join(err, f.Root.Close())
	}
	return folder{Folder: f, info: info}, nil
}

// above returns the names of the folder's absolute path, which count for what is protected, unless
// nobody chose the place.
func (f *folder) above() []string {
	if f.own {
		return nil
	}
	path := strings.Trim(filepath.ToSlash(f.Real), "/")
	if path == "" {
		return []string{}
	}
	return strings.Split(path, "/")
}

func (f *folders) close() error {
	var errs []error
	for _, r := range f.roots {
		errs = append(errs, r.Root.Close())
	}
	return errors.Join(errs...)
}

// dir returns the folder that paths are relative to and commands run in.
func (f *folders) dir() string { return f.roots[0].Real }

// place is a path inside a granted folder.
type place struct {
	folder *folder
	name   string // inside the root, slash-separated where fs.FS needs it
	show   string // as it is shown: relative to the first folder, or absolute
}

// maxPath bounds the bytes of a path, as on most systems: checks take longer the more names it has.
const maxPath = 4096

// find returns the granted folder of a path. Links that lead out are seen when it is opened.
func (f *folders) find(path string) (place, error) {
	if strings.IndexByte(path, 0) >= 0 {
		return place{}, &failure{kindBadArguments, errors.New("a path cannot hold a NUL character")}
	}
	if len(path) > maxPath {
		return place{}, &failure{kindBadArguments, fmt.Errorf("the path has %d bytes, more than %d", len(path), maxPath)}
	}
	abs := filepath.FromSlash(path)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(f.dir(), abs)
	}
	abs = filepath.Clean(abs)
	for i := range f.roots {
		r := &f.roots[i]
		for _, base := range []string{r.Real, r.Path} {
			rel, err := filepath.Rel(base, abs)
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
			if f.isPrivate(abs) {
				return place{}, &failure{kindNotAllowed, fmt.Errorf("%s is in a folder of windlass itself, which tools leave alone", path)}
			}
			show := filepath.ToSlash(rel)
			if i > 0 {
				show = filepath.ToSlash(filepath.Join(r.Path, rel))
			}
			return place{r, rel, show}, nil
		}
	}
	var granted []string
	for _, r := range f.roots {
		granted = append(granted, r.Path)
	}
	return place{}, &failure{kindNotAllowed, fmt.Errorf("%s is outside the granted folders (%s)", path, strings.Join(granted, ", "))}
}

// explain words an error of the file system so that it says nothing of what is outside.
func (f *folders) explain(verb string, p place, err error) error {
	var pathErr *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &failure{kindNotFound, fmt.Errorf("%s %s: there is no such file; list_files shows what there is", verb, p.show)}
	case errors.Is(err, fs.ErrPermission):
		return &failure{kindNotAllowed, fmt.Errorf("%s %s: permission denied", verb, p.show)}
	case errors.Is(err, errEscapes), errors.As(err, &pathErr) && strings.Contains(pathErr.Err.Error(), "escapes"):
		return &failure{kindNotAllowed, fmt.Errorf("%s %s: a symbolic link in it leads outside the granted folder", verb, p.show)}
	case pathErr != nil:
		return fmt.Errorf("%s %s: %w", verb, p.show, pathErr.Err)
	}
	return fmt.Errorf("%s %s: %w", verb, p.show, err)
}

// open opens a regular file or a folder for reading. Anything else could block, or be a device.
func (f *folders) open(verb string, p place) (*os.File, fs.FileInfo, error) {
	file, err := p.folder.Root.OpenFile(p.name, os.O_RDONLY|source.NonBlock, 0)
	if err != nil {
		return nil, nil, f.explain(verb, p, err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = errors.New("it is neither a file nor a folder")
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s %s: %w", verb, p.show, err), file.Close())
	}
	return file, info, nil
}
