package grants

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/wholefile"
)

// The bounds of a list of cascade files.
const (
	mostEntries = 20_000   // files and folders that are looked at in a root
	mostListed  = 64 << 20 // bytes that are read in a root
)

// Files returns the cascade files below the roots by the names that runs are started by, sorted, and what was not looked at.
// Of files with the same name that of the first root counts. Those of tools and of scripts are left out, and those whose names
// begin with a dot or have characters that are not seen.
func (g *Grants) Files(ctx context.Context) (names, notes []string) {
	for _, r := range g.roots {
		l := lister{ctx: ctx, fsys: r.tree.FS}
		err := fs.WalkDir(r.tree.FS, ".", l.visit)
		names, notes = append(names, l.names...), append(notes, l.notes(filepath.Base(r.Path), err)...)
	}
	slices.Sort(names)
	return slices.Compact(names), notes
}

// notes say what was not looked at of a folder whose walk ended with an error.
func (l *lister) notes(folder string, err error) (out []string) {
	if l.unread > 0 || err != nil && !errors.Is(err, errEnough) {
		out = append(out, fmt.Sprintf("Of the folder %s a part cannot be read.", folder))
	}
	if errors.Is(err, errEnough) {
		out = append(out, fmt.Sprintf("Of the folder %s only a part was looked at, as it has more than %d files and folders, or %d MiB of JSON and YAML.", folder, mostEntries, mostListed>>20))
	}
	return out
}

var errEnough = errors.New("enough was looked at")

type lister struct {
	ctx     context.Context //nolint:containedctx // a lister lives as long as one call
	fsys    fs.FS
	names   []string
	entries int
	read    int
	unread  int // folders
}

// visit is the function of a walk. A folder that cannot be read hides no other.
func (l *lister) visit(name string, d fs.DirEntry, err error) error {
	l.entries++
	switch {
	case l.ctx.Err() != nil:
		return l.ctx.Err()
	case l.entries > mostEntries || l.read > mostListed:
		return errEnough
	case err != nil && d != nil && d.IsDir() && name != ".":
		l.unread++
		return fs.SkipDir
	case err != nil:
		return err
	case d.IsDir() && name != "." && !isListed(d.Name()):
		return fs.SkipDir
	case d.IsDir() || !IsCascadeName(name):
		return nil
	}
	text, err := readIn(l.fsys, name)
	l.read += len(text)
	if err == nil && core.LooksLikeCascade(name, text) {
		l.names = append(l.names, name)
	}
	return nil
}

// isListed reports whether an entry of a folder is looked at.
func isListed(name string) bool { return !strings.HasPrefix(name, ".") && name != "node_modules" }

// IsCascadeName reports whether a file with this name, which has slashes, can be listed.
func IsCascadeName(name string) bool {
	return checkName(name) == nil
}

func readIn(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if err := source.Readable(name, info.Mode()); err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	return io.ReadAll(io.LimitReader(f, source.MaxBytes+1))
}

// File is a cascade file as it was read.
type File struct {
	Name    string // as runs are started by it
	Text    []byte
	Version string // of the text: another text has another one; "": there is no file yet

	root root
}

// NoFileError says that [Grants.Files] has no file of a name.
type NoFileError struct{ Name string }

func (e *NoFileError) Error() string {
	return fmt.Sprintf("there is no cascade file %s in the folders that this server was started with", e.Name)
}

// File reads one of [Grants.Files]. The error of a name that is none of them is a [*NoFileError].
func (g *Grants) File(name string) (*File, error) {
	for _, r := range g.roots {
		if !IsCascadeName(name) {
			break
		}
		text, err := readIn(r.tree.FS, name)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, source.ErrNoFile):
			continue
		case err != nil:
			return nil, unreadableFile(name, err)
		case !core.LooksLikeCascade(name, text):
			return nil, &NoFileError{name}
		}
		return &File{Name: name, Text: text, Version: version(text), root: r}, nil
	}
	return nil, &NoFileError{name}
}

func version(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Diagnose loads the cascade of a file with what it reaches in the roots, with a text in the place of its own, and returns it
// and what windlass validate says of it. The cascade is nil when it has errors.
func (g *Grants) Diagnose(ctx context.Context, f *File, text []byte) (*cascade.Cascade, cascade.Diagnostics, error) {
	trees, of := over(g.trees(), f.root.tree, f.Name, text)
	c, found, err := trees.Load(ctx, of, f.Name, core.KnownFor(g.RunOptions()))
	if err != nil && !errors.As(err, new(*cascade.InvalidError)) {
		return nil, nil, unreadableFile(f.Name, err)
	}
	return c, found, nil
}

// StaleError says that a file has another text than the one that was changed.
type StaleError struct{ Name string }

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s has changed since it was opened here", e.Name)
}

// Save puts a text in the place of that of a file, whole or not at all. A file that has changed since it was read stays as it
// is: the error is a [*StaleError]. What changes it in the same moment is not seen. One of [Grants.New] is created; the error is
// an [*ExistsError] when something has its name by then.
func (g *Grants) Save(f *File, text []byte) error {
	g.saving.Lock()
	defer g.saving.Unlock()
	name := filepath.FromSlash(f.Name)
	if err := f.root.noLink(name); err != nil {
		return err
	}
	if f.Version == "" {
		return create(f, name, text)
	}
	now, err := readIn(f.root.tree.FS, f.Name)
	if err != nil || version(now) != f.Version {
		return &StaleError{f.Name}
	}
	info, err := f.root.Root.Stat(name)
	if err == nil {
		err = wholefile.ReplaceIn(f.root.Root, name, text, info.Mode().Perm())
	}
	return unsaved(f, err)
}

// unsaved says why a file was not saved; nil for nil.
func unsaved(f *File, err error) error {
	if err == nil {
		return nil
	}
	return failure.New(failure.StorageFailed, fmt.Errorf("save %s: %w", path.Base(f.Name), err), "check that the server may write its folder")
}

// noLink refuses a path with a link in it.
func (r root) noLink(name string) error {
	for part := name; part != "."; part = filepath.Dir(part) {
		if info, err := r.Root.Lstat(part); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return server.NewProblem(server.NotGranted, "change what it leads to", "%s is a link, and nothing is written through links", filepath.ToSlash(part))
		}
	}
	return nil
}
