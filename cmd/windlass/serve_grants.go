package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/llm/script"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/source"
)

// grants are the rights of runs that are begun over the API: those that the flags of "windlass serve" give. No request
// can widen them.
type grants struct {
	roots         []servedRoot
	allowEnv      []string
	allowCommands bool
	allowWrite    []string
	allowHTTP     bool
	offline       bool
	budget        core.Limits // the most that one run may take
}

// servedRoot is a folder whose cascades may be run and whose files tools may use. It is opened once: what is read by
// path goes through os.Root, which follows no link out of it.
type servedRoot struct {
	path string // absolute, as it was given
	real string // with links resolved
	root *os.Root
}

// openRoots opens the folders of --root. When one cannot be opened none stays open.
func openRoots(paths []string) ([]servedRoot, error) {
	var out []servedRoot
	for _, p := range paths {
		one, err := openRoot(p)
		if err != nil {
			return nil, errors.Join(usageError(fmt.Errorf("open the folder of --root %s: %w", p, err), "--root FOLDER with a folder that exists"), closeRoots(out))
		}
		out = append(out, one)
	}
	return out, nil
}

func openRoot(path string) (servedRoot, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return servedRoot{}, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return servedRoot{}, err
	}
	root, err := source.OpenRoot(real)
	if err != nil {
		return servedRoot{}, err
	}
	return servedRoot{path: abs, real: real, root: root}, nil
}

func closeRoots(roots []servedRoot) error {
	var errs []error
	for _, r := range roots {
		errs = append(errs, r.root.Close())
	}
	return errors.Join(errs...)
}

// options returns what a run with these rights is started with.
func (g *grants) options() core.RunOptions {
	o := core.RunOptions{Offline: g.offline, Rights: core.Rights{AllowEnv: g.allowEnv, AllowCommands: g.allowCommands, AllowWrite: g.allowWrite}}
	for _, r := range g.roots {
		o.Rights.Roots = append(o.Rights.Roots, r.path)
	}
	return o
}

// check refuses a cascade that needs more than the server grants. A cascade that comes in a request, or that a tool wrote
// into a root, has no author that the server's owner trusts, so its own commands need what run_command needs.
func (g *grants) check(c *cascade.Cascade) error {
	for _, t := range c.Tools {
		switch {
		case t.Type == cascade.ToolShell && !g.allowCommands:
			return notGranted("the tool %q runs a command", "--allow-commands", t.ToolID)
		case t.Type == cascade.ToolHTTP && !g.allowHTTP:
			return notGranted("the tool %q sends requests over HTTP", "--allow-http", t.ToolID)
		}
	}
	if g.allowCommands {
		return nil
	}
	for p := range c.EachPhase() {
		if v, err := c.ParseValidator(p.Rules.LoopUntil); err == nil && v.Kind == cascade.ValidatorCommand {
			return notGranted("loop_until of the phase %q runs a command", "--allow-commands", p.Name)
		}
	}
	return nil
}

// limits returns the limits that a run is begun or taken up with which otherwise has those of base: as the request asks,
// but never more than the server grants.
func (g *grants) limits(asked *server.Budget, base cascade.Budget) (o core.Limits, err error) {
	if asked == nil {
		asked = &server.Budget{}
	}
	if o.MaxUSD, err = limit("max_usd", asked.MaxUSD, g.budget.MaxUSD, base.MaxUSD); err != nil {
		return o, err
	}
	if o.MaxTokens, err = limit("max_tokens", asked.MaxTokens, g.budget.MaxTokens, base.MaxTokens); err != nil {
		return o, err
	}
	o.MaxSeconds, err = limit("max_seconds", asked.MaxSeconds, g.budget.MaxSeconds, base.MaxSeconds)
	return o, err
}

// limit returns one limit of a run; nil when it stays as it is. Zero is no limit.
func limit[T int64 | float64](name string, asked, most *T, base T) (*T, error) {
	switch {
	case most == nil || *most == 0:
		return asked, nil
	case asked != nil && (*asked <= 0 || *asked > *most):
		return nil, server.NewProblem(server.NotGranted, fmt.Sprintf(`"budget": {%q: %v} or less`, name, *most),
			"the request asks for a %s of %v, and this server grants a run %v at most", name, *asked, *most)
	case asked == nil && (base == 0 || base > *most):
		return most, nil
	}
	return asked, nil
}

func notGranted(what, flag string, args ...any) error {
	return server.NewProblem(server.NotGranted, "windlass serve "+flag+", if everyone who can reach the server may have that",
		what+", which this server was not started with "+flag+" for", args...)
}

// loadServed loads a cascade's file from the first root that has it. What it returns as name is the file's path.
func (g *grants) loadServed(ctx context.Context, file string, offline bool) (c *cascade.Cascade, name string, err error) {
	if len(g.roots) == 0 {
		return nil, "", server.NewProblem(server.NotGranted, "windlass serve --root FOLDER, or send the cascade itself with cascade",
			"the request names the file %q, and this server was started without a folder of cascades", file)
	}
	r, inside, err := g.find(file)
	if err != nil {
		return nil, "", err
	}
	name = filepath.Join(r.path, inside)
	c, found, err := cascade.LoadFS(ctx, r.root.FS(), filepath.ToSlash(inside), core.Known())
	if err != nil {
		return nil, "", cascadeProblem(file, found, err)
	}
	if offline {
		if err := r.holdsScript(file, inside); err != nil {
			return nil, "", err
		}
	}
	return c, name, nil
}

// find returns the first root that has a file, and the file's path in it.
func (g *grants) find(file string) (servedRoot, string, error) {
	tried := false
	for _, r := range g.roots {
		inside, ok := r.inside(file)
		if !ok {
			continue
		}
		tried = true
		info, err := r.root.Stat(inside)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return servedRoot{}, "", unreadableFile(file, err)
		case !info.Mode().IsRegular():
			return servedRoot{}, "", server.NewProblem(server.InvalidRequest, "name a cascade's file", "%s is not a file", file)
		}
		return r, inside, nil
	}
	if !tried {
		return servedRoot{}, "", server.NewProblem(server.NotGranted, "name a file below a --root of the server", "%s is outside the folders that this server was started with", file)
	}
	return servedRoot{}, "", server.NewProblem(server.InvalidRequest, "check the path; it is relative to a --root of the server", "there is no file %s in the folders that this server was started with", file)
}

// inside returns the path of a file relative to the root. It is only cleaned; links are os.Root's business.
func (r servedRoot) inside(file string) (string, bool) {
	name := filepath.FromSlash(file)
	if strings.IndexByte(name, 0) >= 0 {
		return "", false
	}
	if !filepath.IsAbs(name) {
		name = filepath.Clean(name)
		return name, filepath.IsLocal(name)
	}
	for _, base := range []string{r.path, r.real} {
		if rel, err := filepath.Rel(base, filepath.Clean(name)); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

// holdsScript demands that the script beside a cascade does not lie outside the root.
func (r servedRoot) holdsScript(file, inside string) error {
	path, err := script.Find(filepath.Join(r.path, inside))
	if err != nil {
		return server.NewProblem(server.InvalidRequest, "docs/models.md describes scripts; without offline a model answers", "there is no script beside %s", file)
	}
	info, err := r.root.Stat(filepath.Join(filepath.Dir(inside), filepath.Base(path)))
	switch {
	case err != nil:
		return unreadableFile(filepath.Base(path), err)
	case !info.Mode().IsRegular(): // reading a FIFO would wait for ever, in the place of a run
		return server.NewProblem(server.InvalidRequest, "docs/models.md describes scripts", "%s is not a file", filepath.Base(path))
	}
	return nil
}

// unreadableFile says of a file in a root why it cannot be read, and nothing of what is outside.
func unreadableFile(file string, err error) error {
	var pathErr *fs.PathError
	switch {
	case errors.As(err, &pathErr) && strings.Contains(pathErr.Err.Error(), "escapes"):
		return server.NewProblem(server.NotGranted, "name a file below a --root of the server", "a link in %s leads out of the folder that this server was started with", file)
	case errors.As(err, &pathErr):
		err = pathErr.Err
	}
	return server.NewProblem(server.InvalidRequest, "check that the server may read the file", "%s cannot be read: %v", file, err)
}

// cascadeProblem says what is wrong with a cascade.
func cascadeProblem(file string, found cascade.Diagnostics, err error) error {
	var invalid *cascade.InvalidError
	if !errors.As(err, &invalid) {
		return unreadableFile(file, err)
	}
	n, _ := found.Count()
	return &server.Problem{
		Kind: server.InvalidCascade, Detail: fmt.Sprintf("%s is not a valid cascade: %s", file, plural(n, "error")),
		Try: "correct what diagnostics lists; windlass validate shows the same for a file", Diagnostics: found,
	}
}
