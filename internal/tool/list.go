package tool

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/windlass-run/windlass/engine/effect"
)

const (
	defaultListEntries = 500
	maxListEntries     = 2000
)

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
