package tool

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// hiddenFolders are left out of lists and searches unless they are named.
var hiddenFolders = [...]string{".git", "node_modules"}

// entry is a file or a folder that a walk comes to.
type entry struct {
	d    fs.DirEntry
	name string // inside the root
	rel  string // inside the folder that is walked
	show string
}

func (e entry) line() string {
	switch {
	case e.d.IsDir():
		return e.show + "/"
	case e.d.Type()&fs.ModeSymlink != 0:
		return e.show + " (symbolic link)"
	}
	info, err := e.d.Info()
	if err != nil { // removed meanwhile
		return e.show
	}
	return fmt.Sprintf("%s (%d)", e.show, info.Size())
}

// walk calls fn for everything below p, in the order of the paths. It follows no links, and passes
// over what cannot be read, except p itself.
func (f *folders) walk(ctx context.Context, p place, depth int, all bool, fn func(entry) error) error {
	start := filepath.ToSlash(p.name)
	return fs.WalkDir(p.folder.Root.FS(), start, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if name == start {
			if err == nil && !d.IsDir() {
				err = fn(entry{d: d, name: name, rel: path.Base(name), show: p.show})
			} else if err != nil {
				err = f.explain("list", p, err)
			}
			return err
		}
		if err != nil {
			return nil //nolint:nilerr // a folder that cannot be read is listed, and not gone into
		}
		if d.IsDir() && !all && slices.Contains(hiddenFolders[:], d.Name()) {
			return fs.SkipDir
		}
		if f.mayBePrivate(d) {
			if info, err := d.Info(); err == nil && f.holdsPrivate(info) {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
		}
		rel := strings.TrimPrefix(name, start+"/")
		if start == "." {
			rel = name
		}
		if err := fn(entry{d: d, name: name, rel: rel, show: path.Join(p.show, rel)}); err != nil {
			return err
		}
		if d.IsDir() && depth > 0 && strings.Count(rel, "/")+1 >= depth {
			return fs.SkipDir
		}
		return nil
	})
}
