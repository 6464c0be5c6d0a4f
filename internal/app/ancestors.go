package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
)

// ancestor is a cascade that runs: that of a run, or of one that has begun it, directly or not.
type ancestor struct{ id, file, hash string }

func ancestorOf(c *cascade.Cascade, file, dir string) ancestor {
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	return ancestor{c.CascadeID, file, library.Hash(c)}
}

// ancestors returns what runs, from the run itself upwards. Those above a child that somebody has
// resumed alone are read from their journals.
func ancestors(o *opening) []ancestor {
	var list []ancestor
	for at := o; at != nil; o, at = at, at.parent {
		list = append(list, ancestorOf(at.run.cascade, at.run.header.File, at.run.started.Dir))
	}
	h := &o.run.header
	for range cascade.MaxDepth {
		if h.ChildOf == "" {
			break
		}
		rec, err := o.app.ReadJournal(h.ChildOf)
		if err != nil {
			break // it is away
		}
		h = &rec.Header
		if origin, err := ReadHeader(*h, o.options.Extensions.ToolNames()...); err == nil {
			list = append(list, ancestorOf(origin.Cascade, h.File, origin.Started.Dir))
		}
	}
	return list
}

// circle says to a model that a cascade which it has named would run below itself, or would have one run
// so that it reaches; "" when none would.
func circle(o *opening, found *cascade.Reached) string {
	running := ancestors(o)
	for file, c := range library.All(found.Cascade) {
		if file == "" {
			file = found.File
		}
		this := ancestorOf(c, file, o.run.started.Dir)
		at := slices.IndexFunc(running, func(a ancestor) bool {
			return a.hash == this.hash || a.id == this.id && a.file == this.file
		})
		if at < 0 {
			continue
		}
		names := []string{running[at].id}
		for _, a := range slices.Backward(running[:at]) {
			names = append(names, a.id)
		}
		names = append(names, found.Cascade.CascadeID)
		if c != found.Cascade {
			names = append(names, c.CascadeID)
		}
		return fmt.Sprintf("the cascade %q would run below itself: %s; do the work here, or name another cascade", c.CascadeID, strings.Join(names, " -> "))
	}
	return ""
}
