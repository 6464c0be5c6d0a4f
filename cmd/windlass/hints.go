package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/template"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
	"github.com/windlass-run/windlass/internal/tool"
	"github.com/windlass-run/windlass/schema"
)

// hints are the next steps of a person for kinds of failures that do not say one themselves.
var hints = map[failure.Kind]string{
	failure.InvalidConfig:  "correct the file; docs/models.md describes it",
	failure.UnknownSession: "windlass sessions list",
	failure.SessionExists:  "another --session ID, or none for a new one",
	failure.SessionBusy:    "wait for its end, or stop that process",
	failure.Diverged:       "--fork with an entry before that one, or a cascade from which it follows",
	failure.StorageFailed:  "windlass doctor",
}

// hintFor returns the next step for an error that says more than its kind; "" for others.
func hintFor(err error) string {
	var (
		model  *app.NoModelError
		phase  *app.UnknownPhaseError
		prices *app.PriceAsError
		resume *app.ResumeError
		half   *app.HalfForkError
		fork   *app.ForkPointError
		rights *app.RightsError
		value  *app.FileInputError
		blind  *app.NoImagesError
	)
	switch {
	case errors.As(err, new(*app.SessionIDError)), errors.As(err, new(*app.ReservedIDError)):
		return "--session nightly-7, or none for a new id"
	case errors.As(err, &model):
		return "windlass run " + model.File + " --model gpt-5-mini, or --offline to use the script beside the cascade"
	case errors.As(err, &phase):
		return "windlass validate " + phase.File
	case errors.As(err, &prices) && prices.Online:
		return "--offline with --price-as, or neither"
	case errors.As(err, &prices) && prices.Known:
		return "a price for it in windlass.json, or a model that has one: windlass models"
	case errors.As(err, &prices):
		return "windlass models"
	case errors.As(err, &value):
		return "windlass run FILE --input " + value.Input + "=@PATH"
	case errors.As(err, &blind):
		return "another model, as --model " + blind.Phase + "=MODEL; \"images\": true of the model in windlass.json says that it takes them"
	case errors.As(err, new(*app.SecretFileError)):
		return "a file without it"
	case errors.As(err, new(*archive.AmbiguousError)):
		return "one of these ids, or more of it"
	case errors.As(err, new(*app.NoScriptError)):
		return "docs/models.md describes scripts; without --offline a model answers"
	case errors.As(err, new(*tool.FolderError)):
		return "--root FOLDER with a folder that exists"
	case errors.As(err, &rights):
		return rightsHint(rights)
	case errors.As(err, new(*app.ListsError)):
		return fmt.Sprintf(`a list of at most %d elements there, as --input-json '{"NAME": ["one", "two"]}'`, cascade.MaxItems)
	case errors.As(err, new(*app.ToolsError)):
		return "docs/tools.md describes what tools need"
	case errors.As(err, new(*app.MissingToolsError)):
		return "do it in the program that began the session, which gives it its tools"
	case errors.As(err, &resume):
		return fmt.Sprintf("%s resume %s --fork PHASE, to continue from a phase of it in a new session; %s replay %s --list shows all places",
			selfCommand(), resume.SessionID, selfCommand(), resume.SessionID)
	case errors.As(err, &half):
		return fmt.Sprintf("%s resume %s --fork %d", selfCommand(), half.Parent, half.ParentSeq)
	case errors.As(err, &fork) && fork.Err != nil:
		return "an entry before it: windlass replay " + fork.Parent + " --list"
	case errors.As(err, &fork):
		return "windlass replay " + fork.Parent + " --list"
	case errors.As(err, new(*app.HeaderError)):
		return "use the windlass that began the session"
	}
	return ""
}

// rightsHint says how the rights are granted that a run lacks.
func rightsHint(e *app.RightsError) string {
	var flags []string
	for _, name := range e.Env {
		flags = append(flags, "--allow-env "+name)
	}
	if len(flags) == 0 {
		return "windlass validate shows the place of each"
	}
	return strings.Join(flags, " ") + ", with the variables set, or | default('...') in the template"
}

// inFlags says what is wrong with what a flag gives in the words of the command line.
func inFlags(err error) error {
	var model *app.NoModelError
	var phase *app.UnknownPhaseError
	var fork *app.ForkPointError
	var prices *app.PriceAsError
	var several *archive.AmbiguousError
	switch {
	case errors.As(err, &several):
		return fmt.Errorf("%q %s %d sessions:\n%s", several.Name, several.Meaning(), len(several.Sessions)+several.More, reports.Candidates(several))
	case errors.As(err, &model):
		return fmt.Errorf("no model: %s names none, and neither --model, WINDLASS_MODEL nor windlass.json does", model.File)
	case errors.As(err, &phase):
		return fmt.Errorf("--model %q: the cascade has no phase %q", phase.Phase+"="+phase.Model, phase.Phase)
	case errors.As(err, &prices):
		return fmt.Errorf("--%s", strings.Replace(prices.Error(), "price as", "price-as", 1))
	case errors.As(err, &fork) && fork.Err == nil:
		return fmt.Errorf("--fork %d: session %s has %s", fork.Seq, fork.Parent, term.Plural(fork.Entries, "entry"))
	}
	return err
}

// selfCommand is how this program was called, as a person would type it again.
func selfCommand() string {
	exe, err := os.Executable()
	if err == nil && strings.Contains(filepath.ToSlash(exe), "/go-build") {
		return "go run ./cmd/windlass"
	}
	return "windlass"
}

// hint says what to try after a run that ended with an error.
func (s *shownRun) hint(kind failure.Kind, err error) string {
	var missing *template.MissingError
	var over *budget.Error
	var differs *effect.DivergenceError
	var empty *engine.EmptyAnswerError
	var tool *engine.ToolError
	var known *failure.Error // with the next step where that is the same for everyone
	switch {
	case errors.As(err, &differs):
		return fmt.Sprintf("%s resume %s --fork %d, to go on from before that in a new session; windlass %s began this one",
			selfCommand(), s.run.ID(), max(differs.Seq, 2)-1, s.run.Header().Windlass)
	case kind == failure.StorageFailed:
		return "free space, or set WINDLASS_HOME to a folder on another disk; the journal holds everything up to here"
	case errors.As(err, &over) && over.Cause != "":
		return "give the model a price in windlass.json (docs/models.md), or go without the limit: " + s.resumeWith(over)
	case over != nil:
		return s.resumeWith(over)
	case kind == failure.ModelUnavailable && errors.As(err, &known) && known.Try != "":
		return known.Try + "; then resume the run: " + s.resumeHint()
	case kind == failure.ModelUnavailable:
		return s.resumeHint()
	case errors.As(err, &known) && known.Try != "":
		return known.Try
	case errors.As(err, &tool) && tool.Kind == effect.KindUnfinished:
		return fmt.Sprintf("find out what %s did; %s then runs it again, from the beginning", tool.Tool, s.resumeHint())
	case errors.As(err, &empty):
		return empty.Try()
	case errors.As(err, &missing):
		return missingHint(s.run, missing, s.typed)
	}
	return s.lookHint()
}

// missingHint says what to do about a variable that a template needs: only what would be taken.
func missingHint(run *app.Run, missing *template.MissingError, typed string) string {
	file := "the cascade"
	if run.File() != app.Stdin {
		file = run.File()
	}
	fallback := "correct the template in " + file
	if _, err := template.Parse("{{ " + missing.Name + " }}"); err == nil && !strings.HasPrefix(missing.Name, "(") {
		fallback = fmt.Sprintf("write {{ %s | default('...') }} in %s", missing.Name, file)
	}
	input, isInput := strings.CutPrefix(missing.Name, "input.")
	env, isEnv := strings.CutPrefix(missing.Name, "env.")
	switch {
	case run.File() == app.Stdin, isInput && !isName(input), isEnv && !isName(env):
	case isInput && takesInput(run.Cascade(), input):
		return fmt.Sprintf("windlass run %s%s --input %s=..., or %s", file, typed, input, fallback)
	case isEnv:
		return fmt.Sprintf("windlass run %s%s --allow-env %s, with the variable set, or %s", file, typed, env, fallback)
	}
	return fallback
}

// forkWith is the command that goes on from the newest phase of a session with its cascade file as it
// is now.
func forkWith(h journal.Header, recorded []*echo.Entry) string {
	phase := "PHASE"
	if visits := record.Of(recorded).Visits(); len(visits) > 0 {
		phase = commandline.Quote(visits[len(visits)-1].Phase)
	}
	return fmt.Sprintf("%s resume %s --fork %s --cascade %s", selfCommand(), h.SessionID, phase, commandline.Path(h.File))
}

// isName reports whether a path behind a variable is a single name.
func isName(path string) bool { return !strings.ContainsAny(path, ".[") }

// takesInput reports whether an input of this name would be taken.
func takesInput(c *cascade.Cascade, name string) bool {
	return !slices.ContainsFunc(c.CheckInput(map[string]any{name: ""}), func(v schema.Violation) bool {
		return v.Pointer == "" && v.Property == name && v.Keyword != "required"
	})
}

// resumeHint says how the run is resumed.
func (s *shownRun) resumeHint() string { return fmt.Sprintf("%s resume %s", selfCommand(), s.run.ID()) }

// resumeWith says how a run that a limit has stopped is resumed.
func (s *shownRun) resumeWith(e *budget.Error) string {
	return fmt.Sprintf("%s --%s %s", s.resumeHint(), strings.ReplaceAll(e.Limit, "_", "-"), e.Enough())
}

// lookHint says how the run is looked at.
func (s *shownRun) lookHint() string { return fmt.Sprintf("%s show %s", selfCommand(), s.run.ID()) }
