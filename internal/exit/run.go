package exit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/template"
	"github.com/windlass-run/windlass/internal/term/live"
	"github.com/windlass-run/windlass/schema"
)

// Run is a run of the command line, of whose end something is said.
type Run struct {
	*app.Run
	Typed string // the flags that the command was given, apart from input, to be typed again
}

// Failure gives the error that ended the run its exit code and says what to try.
func (r Run) Failure(err error) error {
	kind := failure.KindOf(err)
	if errors.As(err, new(*live.OutputError)) && kind != failure.Diverged {
		return With(Storage, err, "write the events to a place with room; everything up to here is in "+r.Journal())
	}
	if kind == failure.Interrupted {
		return With(Interrupted, ErrInterrupted, r.resume())
	}
	return With(codes[kind], err, r.WithoutSecrets(r.hint(kind, err))) // it may name what a template rendered
}

// Look is the command that shows the run.
func (r Run) Look() string { return fmt.Sprintf("%s show %s", commandline.Self(), r.ID()) }

// ForkWithFile is the command that continues from the newest phase of the run with its cascade file as it is now.
func (r Run) ForkWithFile() string {
	phase := "PHASE"
	if visits := record.Of(r.Recorded()).Visits(); len(visits) > 0 {
		phase = commandline.Quote(visits[len(visits)-1].Phase)
	}
	return fmt.Sprintf("%s resume %s --fork %s --cascade %s", commandline.Self(), r.ID(), phase, commandline.Path(r.Header().File))
}

// hint says what to try after a run that ended with an error.
func (r Run) hint(kind failure.Kind, err error) string {
	var missing *template.MissingError
	var over *budget.Error
	var differs *effect.DivergenceError
	var helps interface {
		error
		Try() string // the next step, of errors of the engine
	}
	var tool *engine.ToolError
	var known *failure.Error // with the next step where that is the same for everyone
	switch {
	case errors.As(err, &differs):
		return fmt.Sprintf("%s resume %s --fork %d, to go on from before that in a new session; windlass %s began this one",
			commandline.Self(), r.ID(), max(differs.Seq, 2)-1, r.Header().Windlass)
	case kind == failure.StorageFailed:
		return "free space, or set WINDLASS_HOME to a folder on another disk; the journal holds everything up to here"
	case errors.As(err, &over) && over.Cause != "":
		return "give the model a price in windlass.json (docs/models.md), or go without the limit: " + r.resumeWith(over)
	case over != nil:
		return r.resumeWith(over)
	case kind == failure.ModelUnavailable && errors.As(err, &known) && known.Try != "":
		return known.Try + "; then resume the run: " + r.resume()
	case kind == failure.ModelUnavailable:
		return r.resume()
	case kind == failure.Waiting:
		return fmt.Sprintf("%s waiting %s", commandline.Self(), r.ID())
	case errors.As(err, &known) && known.Try != "":
		return known.Try
	case errors.As(err, &tool) && tool.Kind == effect.KindUnfinished:
		return fmt.Sprintf("find out what %s did; %s then runs it again, from the beginning", tool.Tool, r.resume())
	case errors.As(err, &helps):
		return helps.Try()
	case errors.As(err, &missing):
		return r.missingHint(missing)
	}
	return r.Look()
}

// missingHint says what to do about a variable that a template needs: only what would be taken.
func (r Run) missingHint(missing *template.MissingError) string {
	file := "the cascade"
	if r.File() != app.Stdin {
		file = r.File()
	}
	fallback := "correct the template in " + file
	if _, err := template.Parse("{{ " + missing.Name + " }}"); err == nil && !strings.HasPrefix(missing.Name, "(") {
		fallback = fmt.Sprintf("write {{ %s | default('...') }} in %s", missing.Name, file)
	}
	input, isInput := strings.CutPrefix(missing.Name, "input.")
	env, isEnv := strings.CutPrefix(missing.Name, "env.")
	switch {
	case r.File() == app.Stdin, isInput && !isName(input), isEnv && !isName(env):
	case isInput && takesInput(r.Cascade(), input):
		return fmt.Sprintf("windlass run %s%s --input %s=..., or %s", file, r.Typed, input, fallback)
	case isEnv:
		return fmt.Sprintf("windlass run %s%s --allow-env %s, with the variable set, or %s", file, r.Typed, env, fallback)
	}
	return fallback
}

// isName reports whether a path behind a variable is a single name.
func isName(path string) bool { return !strings.ContainsAny(path, ".[") }

// takesInput reports whether an input of this name would be taken.
func takesInput(c *cascade.Cascade, name string) bool {
	return !slices.ContainsFunc(c.CheckInput(map[string]any{name: ""}), func(v schema.Violation) bool {
		return v.Pointer == "" && v.Property == name && v.Keyword != "required"
	})
}

// resume is the command that resumes the run.
func (r Run) resume() string { return fmt.Sprintf("%s resume %s", commandline.Self(), r.ID()) }

// resumeWith is the command that resumes a run that a limit has stopped.
func (r Run) resumeWith(e *budget.Error) string {
	return fmt.Sprintf("%s --%s %s", r.resume(), strings.ReplaceAll(e.Limit, "_", "-"), e.Enough())
}
