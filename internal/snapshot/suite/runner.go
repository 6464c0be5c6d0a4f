package suite

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/tool"
)

// Runner returns what a cascade is run with in a test, and what closes it. It calls nothing.
func Runner(c *cascade.Cascade, models []string, env map[string]string) (engine.Runner, func() error, error) {
	r := engine.Runner{DefaultModel: c.Model, PhaseModels: map[string]string{}}
	for _, m := range models {
		if phase, model, one := strings.Cut(m, "="); one {
			r.PhaseModels[phase] = model
		} else {
			r.DefaultModel = m
		}
	}
	r.Facts = llm.NewRouter(&config.Config{}, func(string) string { return "" }).Facts
	tools, err := tool.New(tool.Options{
		Roots: []string{os.TempDir()}, Declared: c.Tools, AllowEnv: slices.Sorted(maps.Keys(env)),
		Getenv: func(name string) (string, bool) {
			v, ok := env[name]
			return v, ok
		},
	})
	if err != nil {
		return r, nil, err
	}
	r.Tools = tools
	return r, tools.Close, nil
}
