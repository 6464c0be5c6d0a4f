package tool

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/engine/effect"
)

const (
	defaultListEntries = 500
	maxListEntries     = 2000
)

// hiddenFolders are left out of lists and searches unless they are named.
var hiddenFolders = [...]string{".git", "node_modules"}

func fileTools(f *folders) []tool {
	return []tool{readTool(f), listTool(f), searchTool(f), writeTool(f)}
}

type listArgs struct {
	Path    string `json:"path"`
	Pattern string `json:"pattern"`
	Depth   int    `json:"depth"`
	Limit   int    `json:"limit"`
	All     bool   `json:"all"`
}

func listTool(f *folders) tool {
	return tool{
		spec: effect.ToolSpec{
			Name:       ListFiles,
			Idempotent: true,
			Description: "List the files below a granted folder, sorted by path, with their sizes in bytes; folders end in /. " +
				".git and node_modules are left out unless all is true or path names them.",
			Parameters: object(nil, property{"path", "string", "the folder to list, relative to the working folder", `"default":"."`},
				property{"pattern", "string", "only files that match this glob, such as *.go or src/**/*.ts", ""},
				property{"depth", "integer", "how many levels to go down; 1 is the folder itself; 0 or none: all", `"minimum":0`},
				integer("limit", "the number of entries to return", 1, maxListEntries, defaultListEntries),
				property{"all", "boolean", "also .git and node_modules", `"default":false`}),
		},
		run: typed(func(ctx context.Context, _ *call, a listArgs) (string, error) { return f.list(ctx, a) }),
	}
}

func (f *folders) list(ctx context.Context, a listArgs) (string, error) {
	p, err := f.find(cmp.Or(a.Path, "."))
	if err != nil {
		return "", err
	}
	pattern, err := newGlob(a.Pattern)
	if err != nil {
		return "", err
	}
	limit := within(a.Limit, defaultListEntries, maxListEntries)
	var lines []string
	more := false
	size := 0
	err = f.walk(ctx, p, a.Depth, a.All, func(e entry) error {
		if e.d.IsDir() && pattern != nil || !e.d.IsDir() && !pattern.match(e.rel) {
			return nil
		}
		if len(lines) == limit || size > maxText {
			more = true
			return fs.SkipAll
		}
		line := e.line()
		lines, size = append(lines, line), size+len(line)
		return nil
	})
	if err != nil {
		return "", err
	}
	if len(lines) == 0 {
		return fmt.Sprintf("[no files in %s]", p.show), nil
	}
	if more {
		lines = append(lines, fmt.Sprintf("[the first %d entries; there is more: give a path or a pattern]", len(lines)))
	}
	return strings.Join(lines, "\n"), nil
}

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
		if d.IsDir() {
			if info, err := d.Info(); err == nil && f.holdsPrivate(info) {
				return fs.SkipDir
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
