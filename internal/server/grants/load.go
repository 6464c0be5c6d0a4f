package grants

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/windlass-run/windlass/cascade"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/llm/script"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server"
)

// Load loads a cascade from the first root that has it; one to run offline with its script.
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
	c, found, err := cascade.LoadFS(ctx, r.Root.FS(), filepath.ToSlash(inside), core.Known())
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
