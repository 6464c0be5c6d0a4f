// Package library finds other cascades by the names that cascades have for them, loads all that is
// reached, and keeps it in the header of a session.
//
// A name is a path relative to the file that has it, when it ends in .json, .yaml or .yml, else a
// cascade_id. An id is looked for beside the file, then in the folders [Searched] of the project
// folder, then in further ones. The nearest folder that has it counts; two files of one folder with
// the same id are an error. Only ids are read: what else is wrong with a file does not matter until
// it is reached. Folders below these are not searched, and no link leads out of them.
package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/source"
)

// Searched are the folders of a project folder in which cascades are found by their ids.
var Searched = []string{"cascades", "tackle", "examples"}

// Folders say where the cascades of this machine are found by name. A file may name any other file of
// the machine by its path, as the person who runs it could.
type Folders struct {
	Project string   // the project folder, that of windlass.json; "": that of the file
	Paths   []string // further folders, each searched itself
	Note    string   // said where an id is not found: why there is perhaps more; "": nothing
}

// Load is [cascade.LoadContext] with what the cascade reaches. What is wrong with a file that is
// reached stands below the place that names it.
func (f Folders) Load(ctx context.Context, path string, known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
	w := newMachine(f, path)
	defer w.close()
	return newLoader(ctx, known, w).open(location{path: path})
}

// Parse is [cascade.ParseContext] with what the cascade reaches, for a text that stands for a file
// of the working folder.
func (f Folders) Parse(ctx context.Context, name string, data []byte, known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
	w := newMachine(f, name)
	defer w.close()
	return newLoader(ctx, known, w).openText(name, data)
}

// Find finds a cascade by a name that was made up while the cascade of a file runs, as by a model: an
// id that the search finds, or the path of a file in the project folder, relative to the file. What it
// reaches is bound in the same way. The error is a [*NameError].
func (f Folders) Find(ctx context.Context, file, ref string, known cascade.Known) (*cascade.Reached, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("find the cascade %q: %w", ref, err)
	}
	trees, closeAll, err := f.trees(filepath.Dir(file))
	if err != nil {
		return nil, &NameError{Ref: ref, Message: err.Error()}
	}
	defer closeAll()
	from := location{tree: trees[0], path: "."} // in the project folder, for a file that is not
	if rel, err := filepath.Rel(trees[0].Name, file); err == nil && filepath.IsLocal(rel) {
		from.path = filepath.ToSlash(rel)
	}
	return trees.Find(ctx, from.tree, from.path, ref, known)
}

// trees opens the project folder, and further ones after it.
func (f Folders) trees(beside string) (Trees, func(), error) {
	var trees Trees
	var roots []*os.Root
	closeAll := func() {
		for _, r := range roots {
			_ = r.Close() // nothing was written
		}
	}
	add := func(dir string, searched []string) error {
		folder, err := source.OpenFolder(dir)
		if err != nil {
			return err
		}
		roots = append(roots, folder.Root)
		trees = append(trees, &Tree{FS: Rooted(folder.Root), Name: folder.Path, Searched: searched})
		return nil
	}
	project := f.Project
	if project == "" {
		project = beside
	}
	if err := add(project, Searched); err != nil {
		return nil, nil, fmt.Errorf("open the project folder: %w", err)
	}
	for _, p := range f.Paths {
		if err := add(p, []string{"."}); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			closeAll()
			return nil, nil, fmt.Errorf("open a folder of cascades: %w", err)
		}
	}
	return trees, closeAll, nil
}

// Tree is a folder with what is below it. Nothing that its files name leads out of it.
type Tree struct {
	FS       fs.FS    // with paths as in package io/fs
	Name     string   // of the folder: what is recorded of a file is a path below it; may be ""
	Searched []string // its folders in which cascades are found by their ids
}

// Trees are folders in which cascades are found by name, and outside of which none is.
type Trees []*Tree

// Load is [cascade.LoadFS] of a file of one of the trees, with what the cascade reaches.
func (t Trees) Load(ctx context.Context, of *Tree, path string, known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
	return newLoader(ctx, known, t).open(location{tree: of, path: filepath.ToSlash(path)})
}

// Parse is [cascade.ParseContext] with what the cascade reaches, for a text that stands for a file
// of each of the trees.
func (t Trees) Parse(ctx context.Context, name string, data []byte, known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
	return newLoader(ctx, known, t).openText(name, data)
}

// Find finds a cascade by a name that was made up while the cascade of a file runs, as by a model.
// Without a tree the file is a text, which stands for a file of each of the trees. The error is a
// [*NameError].
func (t Trees) Find(ctx context.Context, of *Tree, path, ref string, known cascade.Known) (*cascade.Reached, error) {
	return newLoader(ctx, known, t).find(location{tree: of, path: filepath.ToSlash(path)}, ref)
}

// NameError says why a name stands for no cascade that can be used.
type NameError struct {
	Ref     string
	Message string
	Hint    string              // may be empty
	Found   cascade.Diagnostics // what is wrong with files that it reaches
}

func (e *NameError) Error() string { return fmt.Sprintf("find the cascade %q: %s", e.Ref, e.Message) }

// Rooted returns the files of a folder: no link leads out of it, and opening one waits for nothing.
func Rooted(r *os.Root) fs.FS { return rooted{r} }

type rooted struct{ root *os.Root }

func (r rooted) Open(name string) (fs.File, error) {
	f, err := r.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|source.NonBlock, 0)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (r rooted) Stat(name string) (fs.FileInfo, error) { return r.root.Stat(filepath.FromSlash(name)) }

// IsPath reports whether a name is that of a file, and not a cascade_id.
func IsPath(ref string) bool { return slices.Contains(extensions, filepath.Ext(ref)) }

var extensions = []string{".json", ".yaml", ".yml"}
