package authoring

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/internal/source"
)

// The bounds of the list.
const (
	mostFiles  = 200
	mostShown  = 3  // diagnostics of a file
	mostPhases = 12 // names of phases of a file
)

// listView are the cascade files.
type listView struct {
	Files []listed
	More  int // files that are not shown
	Notes []string
	Edit  bool
	Find  string // what their names have
}

// listed is a cascade file in the list.
type listed struct {
	Name, Path  string
	ID          string
	Description string
	Phases      []string
	MorePhases  int
	State       string // what is wrong with it, in a few words
	Bad         bool   // it has errors, or cannot be read
	Found       []finding
	MoreFound   int
}

func (a *author) list(v *page.Visit) error {
	names, notes := a.Grants.Files(v.Context())
	find := v.Query().Get("file")
	names = slices.DeleteFunc(names, func(file string) bool { return !strings.Contains(file, find) })
	view := listView{Notes: notes, Edit: a.Edit, Find: find, More: max(0, len(names)-mostFiles)}
	for _, file := range names[:min(len(names), mostFiles)] {
		one, err := a.listed(v.Context(), file)
		if err != nil {
			return err
		}
		if one != nil {
			view.Files = append(view.Files, *one)
		}
	}
	return v.Show("cascades", "Cascades", view)
}

// listed returns a file for the list; nil for one that went away.
func (a *author) listed(ctx context.Context, file string) (*listed, error) {
	out := &listed{Name: file, Path: pathOf(file)}
	f, err := a.Grants.File(file)
	if errors.As(err, new(*grants.NoFileError)) {
		return nil, nil //nolint:nilnil // what went away is no file of the list
	}
	var c *cascade.Cascade
	var found cascade.Diagnostics
	if err == nil {
		c, found, err = a.Grants.Diagnose(ctx, f, f.Text)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		out.State, out.Bad = server.ProblemOf(err).Detail, true
		return out, nil
	}
	errs, warnings := found.Count()
	out.State, out.Bad = stateOf(errs, warnings), errs > 0
	out.Found, out.MoreFound = findings(file, found[:min(len(found), mostShown)]), max(0, len(found)-mostShown)
	if c != nil {
		out.Description = c.Description
	}
	out.read(f)
	return out, nil
}

// read reads the id and the phases of a file, which may have errors.
func (l *listed) read(f *grants.File) {
	root := source.Parse(f.Name, f.Text).Root
	l.ID = textIn(root, "cascade_id")
	phases := root.Get("phases")
	if phases == nil {
		return
	}
	for _, p := range phases.Items {
		if text := textIn(p, "name"); text != "" {
			l.Phases = append(l.Phases, text)
		}
	}
	l.MorePhases = max(0, len(l.Phases)-mostPhases)
	l.Phases = l.Phases[:min(len(l.Phases), mostPhases)]
}

// textIn returns the text of a key of an object, "" when there is none.
func textIn(n *source.Node, key string) string {
	if text := n.Get(key); text != nil && text.Kind == source.String {
		return text.Text
	}
	return ""
}

// stateOf says in a few words what is wrong with a file.
func stateOf(errs, warnings int) string {
	switch {
	case errs+warnings == 0:
		return "ok"
	case errs == 0:
		return quantity.Of(warnings, "warning")
	case warnings == 0:
		return quantity.Of(errs, "error")
	}
	return quantity.Of(errs, "error") + ", " + quantity.Of(warnings, "warning")
}
