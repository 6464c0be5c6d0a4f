package library

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/suggestion"
)

// location is a file: of the machine, or of a tree.
type location struct {
	tree *Tree // nil: the path is one of the machine
	path string
}

// place is a folder in which ids are looked for.
type place struct {
	fsys  fs.FS
	dir   string // in fsys
	err   error  // why it cannot be read
	shown string
	key   string // the same for all ways to name it
	kept  string // that is the same in later searches; "": the key is
	at    func(name string) location
}

// world is where files are.
type world interface {
	// folders returns the folders in which an id is looked for that a file has, the nearest first.
	folders(from location) []place
	// file returns the file of a path that a file has; it may still be one that cannot be read.
	file(from location, ref string) (location, *cascade.Problem)
	load(ctx context.Context, at location, known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error)
	identity(at location) string // the same for all ways to name a file
	recorded(at location) string // the path that is recorded of a file
	note() string                // said where an id is not found; may be ""
}

// search finds the file of a cascade by its id.
func (l *loader) search(from location, id string) (location, *cascade.Problem) {
	var read []string
	ids := map[string]bool{}
	var stems []string
	seen := map[string]bool{}
	for _, p := range l.world.folders(from) {
		if seen[p.key] {
			continue
		}
		seen[p.key] = true
		s := l.shelf(p)
		switch names := p.distinct(s.ids[id]); len(names) {
		case 0:
		case 1:
			return p.at(names[0]), nil
		default:
			return location{}, ambiguous(id, p, names)
		}
		for has := range s.ids {
			ids[has] = true
		}
		stems = append(stems, s.stems(id, p)...)
		read = append(read, s.described(p))
	}
	if len(read) == 0 {
		return location{}, nowhere(id)
	}
	return location{}, &cascade.Problem{
		NotFound: true, Message: fmt.Sprintf("no cascade has the cascade_id %q", id),
		Hint: nearest(id, ids, stems) + "the folders that were read: " + strings.Join(read, ", ") + l.world.note(),
	}
}

// distinct leaves out names that are links to a file before them.
func (p place) distinct(names []string) []string {
	if len(names) < 2 {
		return names
	}
	var out []string
	var infos []fs.FileInfo
	for _, name := range names {
		info, err := fs.Stat(p.fsys, join(p.dir, name))
		if err == nil && slices.ContainsFunc(infos, func(before fs.FileInfo) bool { return os.SameFile(before, info) }) {
			continue
		}
		out, infos = append(out, name), append(infos, info)
	}
	return out
}

func nowhere(name string) *cascade.Problem {
	return &cascade.Problem{
		NotFound: true, Message: fmt.Sprintf("there is no folder to look for the cascade %q in", name), Hint: "load the cascade that names it from a file",
	}
}

func ambiguous(id string, p place, names []string) *cascade.Problem {
	list := slices.Clone(names)
	for i := range list {
		list[i] = p.at(list[i]).path
	}
	if more := len(list) - 3; more > 0 {
		list = append(list[:3], fmt.Sprintf("%d more", more))
	}
	return &cascade.Problem{
		Message: fmt.Sprintf("%d files have the cascade_id %q: %s", len(names), id, strings.Join(list, ", ")),
		Hint:    "give each cascade an id of its own, or name the file by its path",
	}
}

// nearest asks for the id that was perhaps meant, and for that of a file of the name.
func nearest(id string, ids map[string]bool, stems []string) string {
	var list []string
	for has := range ids {
		list = append(list, has)
	}
	slices.Sort(list)
	if near := suggestion.For(id, list); near != "" {
		return fmt.Sprintf("did you mean %q? ", near)
	}
	if len(stems) > 0 {
		return stems[0] + "; "
	}
	return ""
}

// stems finds files whose name is the id, and whose id is another.
func (s *shelf) stems(id string, p place) []string {
	for has, names := range s.ids {
		for _, name := range names {
			if strings.TrimSuffix(name, path.Ext(name)) == id {
				return []string{fmt.Sprintf("the cascade_id of %s is %q", p.at(name).path, has)}
			}
		}
	}
	return nil
}

func (s *shelf) described(p place) string {
	if len(s.notes) == 0 {
		return p.shown
	}
	return fmt.Sprintf("%s (%s)", p.shown, strings.Join(s.notes, "; "))
}

// shelf reads a folder once.
func (l *loader) shelf(p place) *shelf {
	s := l.shelves[p.key]
	if s == nil {
		if p.err != nil {
			s = &shelf{notes: []string{reason(p.err)}}
		} else {
			s = readShelf(l.ctx, p)
		}
		l.shelves[p.key] = s
	}
	return s
}

// noFile is the problem of a path at which there is nothing; dir is the folder where it would be.
func noFile(file, from string, dir place) *cascade.Problem {
	p := &cascade.Problem{Message: fmt.Sprintf("there is no file %s", file), Hint: fmt.Sprintf("check the path: it is relative to the folder of %s", from)}
	s := &shelf{}
	if dir.err == nil {
		if _, err := s.list(dir.fsys, dir.dir); err == nil {
			if near := suggestion.For(path.Base(file), s.files); near != "" {
				p.Hint = fmt.Sprintf("did you mean %q?", near)
			}
		}
	}
	return p
}

func slashDir(name string) string { return path.Dir(name) }
