package grants

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/llm/script"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server"
)

// Load loads a cascade from the first root that has it, with what it reaches in the roots; one to run
// offline with its script.
func (g *Grants) Load(ctx context.Context, file string, offline bool) (c *cascade.Cascade, name string, err error) {
	if len(g.roots) == 0 {
		return nil, "", server.NewProblem(server.NotGranted, "windlass serve --root FOLDER, or send the cascade itself with cascade",
			"the request names the file %q, and this server was started without a folder of cascades", file)
	}
	r, inside, err := g.find(file)
	if err != nil {
		return nil, "", err
	}
	name = filepath.Join(r.Path, inside)
	c, found, err := g.trees().Load(ctx, r.tree, inside, core.Known())
	if err != nil {
		return nil, "", CascadeProblem(file, found, err)
	}
	if offline {
		if err := r.holdsScript(file, inside); err != nil {
			return nil, "", err
		}
	}
	return c, name, nil
}

// Parse parses a cascade that comes in a request, with what it reaches in the roots.
func (g *Grants) Parse(ctx context.Context, name string, text []byte) (*cascade.Cascade, cascade.Diagnostics, error) {
	known := core.Known()
	if len(g.roots) > 0 {
		return g.trees().Parse(ctx, name, text, known)
	}
	known.Resolve = func(ref string) (*cascade.Reached, *cascade.Problem) {
		return nil, &cascade.Problem{
			NotFound: true, Message: fmt.Sprintf("no cascade is called %q here: this server was started without a folder of cascades", ref),
			Hint: "windlass serve --root FOLDER lets cascades of that folder be named",
		}
	}
	return cascade.ParseContext(ctx, name, text, known)
}

// findCascade finds a cascade that a model names in a run of a file, in the roots, and refuses one that needs
// more than the server grants.
func (g *Grants) findCascade(ctx context.Context, file, ref string, known cascade.Known) (*cascade.Reached, error) {
	var of *library.Tree
	path := "."
	for _, r := range g.roots {
		if inside, ok := r.inside(file); ok && of == nil {
			of, path = r.tree, inside
		}
	}
	reached, err := g.trees().Find(ctx, of, path, ref, known)
	if err != nil {
		return nil, err
	}
	return reached, g.Check(reached.Cascade)
}

func (g *Grants) trees() library.Trees {
	trees := make(library.Trees, len(g.roots))
	for i, r := range g.roots {
		trees[i] = r.tree
	}
	return trees
}

func (r root) holdsScript(file, inside string) error {
	path, err := script.Find(filepath.Join(r.Path, inside))
	if err != nil {
		return server.NewProblem(failure.InvalidRequest, "docs/models.md describes scripts; without offline a model answers",
			"there is no script beside %s", file)
	}
	info, err := r.Root.Stat(filepath.Join(filepath.Dir(inside), filepath.Base(path)))
	switch {
	case err != nil:
		return unreadableFile(filepath.Base(path), err)
	case !info.Mode().IsRegular(): // reading a FIFO would never end, and take the place of a run
		return server.NewProblem(failure.InvalidRequest, "docs/models.md describes scripts", "%s is not a file", filepath.Base(path))
	}
	return nil
}

// CascadeProblem says what is wrong with a cascade that was loaded or parsed.
func CascadeProblem(file string, found cascade.Diagnostics, err error) error {
	var invalid *cascade.InvalidError
	if !errors.As(err, &invalid) {
		return unreadableFile(file, err)
	}
	n, _ := found.Count()
	return &server.Problem{
		Kind: failure.InvalidCascade, Detail: fmt.Sprintf("%s is not a valid cascade: %s", file, quantity.Of(n, "error")),
		Try: "correct what diagnostics lists; windlass validate shows the same for a file", Diagnostics: found,
	}
}
