// Package grants decides what runs over the API may do. Errors are [*server.Problem]s.
package grants

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/server"
)

// Options are the rights that a server gives the runs that start over its API.
type Options struct {
	core.Rights             // cascades below the roots may run, and with AllowCommands any command of a cascade
	AllowHTTP   bool        // cascades may declare tools that send requests over HTTP
	Offline     bool        // scripts answer, and no model
	Limits      core.Limits // the most that one run may take
}

// Grants are those rights, with the folders open. They are safe for concurrent use.
type Grants struct {
	options Options
	roots   []root
	saving  sync.Mutex // held while a file is replaced
}

// Open opens the folders of the options, or none. The error is a [*RootError].
func Open(o Options) (*Grants, error) {
	roots, err := openRoots(o.Roots)
	if err != nil {
		return nil, err
	}
	return &Grants{options: o, roots: roots}, nil
}

// Close closes the folders.
func (g *Grants) Close() error { return closeRoots(g.roots) }

// Offline reports whether no run asks a model.
func (g *Grants) Offline() bool { return g.options.Offline }

// RunOptions returns what a run with these rights is started with.
func (g *Grants) RunOptions() core.RunOptions {
	o := core.RunOptions{Offline: g.options.Offline, Rights: g.options.Rights, Extensions: g.Extensions()}
	o.Rights.Roots = nil
	for _, r := range g.roots {
		o.Rights.Roots = append(o.Rights.Roots, r.Path)
	}
	return o
}

// Extensions returns what a run over the API is given besides what the machine has, also when it is
// resumed.
func (g *Grants) Extensions() core.Extensions { return core.Extensions{Find: g.findCascade} }

// Check refuses a cascade that needs more than the server grants, or reaches one that does. Nobody
// vouches for a cascade in a request or a root, so its own commands need what run_command needs.
func (g *Grants) Check(c *cascade.Cascade) error {
	for file, c := range library.All(c) {
		of := ""
		if file != "" {
			of = fmt.Sprintf(" of the cascade %q", c.CascadeID)
		}
		if err := g.check(c, of); err != nil {
			return err
		}
	}
	return nil
}

func (g *Grants) check(c *cascade.Cascade, of string) error {
	for _, t := range c.Tools {
		switch {
		case t.Type == cascade.ToolShell && !g.options.AllowCommands:
			return notGranted("the tool %q%s runs a command", "--allow-commands", t.ToolID, of)
		case t.Type == cascade.ToolHTTP && !g.options.AllowHTTP:
			return notGranted("the tool %q%s sends requests over HTTP", "--allow-http", t.ToolID, of)
		}
	}
	if g.options.AllowCommands {
		return nil
	}
	command := func(validator string) bool {
		v, err := c.ParseValidator(validator)
		return err == nil && v.Kind == cascade.ValidatorCommand
	}
	for place, name := range c.Soundings.Validators() {
		if command(name) {
			return notGranted("%s%s runs a command", "--allow-commands", place, cmp.Or(of, " of the cascade"))
		}
	}
	for p := range c.EachPhase() {
		for place, name := range p.Validators() {
			if command(name) {
				return notGranted("%s of the phase %q%s runs a command", "--allow-commands", place, p.Name, of)
			}
		}
	}
	return nil
}

// Limits returns the limits of a run: as asked, else of base, but never more than is granted.
func (g *Grants) Limits(asked *server.Budget, base cascade.Budget) (o core.Limits, err error) {
	if asked == nil {
		asked = &server.Budget{}
	}
	if o.MaxUSD, err = limit("max_usd", asked.MaxUSD, g.options.Limits.MaxUSD, base.MaxUSD); err != nil {
		return o, err
	}
	if o.MaxTokens, err = limit("max_tokens", asked.MaxTokens, g.options.Limits.MaxTokens, base.MaxTokens); err != nil {
		return o, err
	}
	o.MaxSeconds, err = limit("max_seconds", asked.MaxSeconds, g.options.Limits.MaxSeconds, base.MaxSeconds)
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
