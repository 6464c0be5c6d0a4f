package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/failure"
)

// RightsError says what a run would come to need that it is not granted.
type RightsError struct {
	Problems []string
	Env      []string // the environment variables among it
	Tools    []string // the tools among it
}

func (e *RightsError) Error() string { return strings.Join(e.Problems, "; ") }

// check finds what the run would fail of when it has been paid for, and says what is probably a
// mistake.
func (o *opening) check() error {
	c := o.run.cascade
	for _, text := range c.InputWarnings(o.run.input) {
		o.watch.Notice(text)
	}
	missing := &RightsError{}
	env := c.MissingEnv(o.runner.Env)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		missing.Env = append(missing.Env, name)
		missing.Problems = append(missing.Problems, fmt.Sprintf("%s needs the environment variable %s, which is not set, or not granted with --allow-env",
			strings.Join(env[name], ", "), name))
	}
	tools := refusals(o.config, &o.options)
	for p := range c.EachPhase() {
		for _, name := range p.Tackle {
			if why := tools.Refusal(name, nil); why != "" {
				o.watch.Notice(fmt.Sprintf("phase %q offers its model %q, but every call of it is refused: %s", p.Name, name, why))
			}
		}
		why := tools.Refusal(p.Tool, p.Inputs)
		switch {
		case why == "":
		case p.OnError != nil:
			o.watch.Notice(fmt.Sprintf("phase %q runs %q, which is refused: %s", p.Name, p.Tool, why))
		default:
			missing.Tools = append(missing.Tools, p.Tool)
			missing.Problems = append(missing.Problems, fmt.Sprintf("phase %q runs %q, which is refused: %s", p.Name, p.Tool, why))
		}
	}
	if len(missing.Problems) == 0 {
		return nil
	}
	return failure.New(failure.InvalidRequest, missing, "")
}
