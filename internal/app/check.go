package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/failure"
)

// RightsError says what a run would come to need that it is not granted.
type RightsError struct {
	Problems []string
	Env      []string // the environment variables among it
	Tools    []string // the tools among it
}

func (e *RightsError) Error() string { return strings.Join(e.Problems, "; ") }

// ListsError says that the input has something else where phases need lists.
type ListsError struct{ Errs []error }

func (e *ListsError) Error() string {
	texts := make([]string, len(e.Errs))
	for i, err := range e.Errs {
		texts[i] = err.Error()
	}
	return "the input does not fit the cascade: " + strings.Join(texts, "; ")
}

// Unwrap returns what a run would say of each list.
func (e *ListsError) Unwrap() []error { return e.Errs }

// check finds what the run would fail of when it has been paid for, in all cascades that it can come
// to, and says what is probably a mistake.
func (o *opening) check() error {
	for _, text := range o.run.cascade.InputWarnings(o.run.input) {
		o.watch.Notice(text)
	}
	if wrong := engine.CheckLists(o.run.cascade, o.run.input); len(wrong) > 0 {
		return failure.New(failure.InvalidInput, &ListsError{wrong}, "")
	}
	missing := &RightsError{}
	for file, c := range library.All(o.run.cascade) {
		o.checkRights(missing, c, file)
	}
	return missing.orNil()
}

// checkCascade is check for a cascade of a file that was found while the run goes on.
func (o *opening) checkCascade(c *cascade.Cascade, file string) error {
	missing := &RightsError{}
	o.checkRights(missing, c, file)
	return missing.orNil()
}

func (e *RightsError) orNil() error {
	if len(e.Problems) == 0 {
		return nil
	}
	return failure.New(failure.InvalidRequest, e, "")
}

// checkRights adds what a cascade would be refused; file is "" for that of the run.
func (o *opening) checkRights(missing *RightsError, c *cascade.Cascade, file string) {
	of := ""
	if file != "" {
		of = " of " + file
	}
	env := c.MissingEnv(o.runner.Env)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		missing.Env = append(missing.Env, name)
		missing.Problems = append(missing.Problems, fmt.Sprintf("%s%s needs the environment variable %s, which is not set, or not granted with --allow-env",
			strings.Join(env[name], ", "), of, name))
	}
	tools := refusals(o.config, &o.options)
	for p := range c.EachPhase() {
		for _, name := range p.Tackle {
			if why := tools.Refusal(name, nil); why != "" {
				o.watch.Notice(fmt.Sprintf("phase %q%s offers its model %q, but every call of it is refused: %s", p.Name, of, name, why))
			}
		}
		why := tools.Refusal(p.Tool, p.Inputs)
		switch {
		case why == "":
		case p.OnError != nil:
			o.watch.Notice(fmt.Sprintf("phase %q%s runs %q, which is refused: %s", p.Name, of, p.Tool, why))
		default:
			missing.Tools = append(missing.Tools, p.Tool)
			missing.Problems = append(missing.Problems, fmt.Sprintf("phase %q%s runs %q, which is refused: %s", p.Name, of, p.Tool, why))
		}
	}
}
