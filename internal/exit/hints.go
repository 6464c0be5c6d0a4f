package exit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
	"github.com/windlass-run/windlass/internal/tool"
)

// hints are the next steps of a person for kinds of failures that do not say one themselves.
var hints = map[failure.Kind]string{
	failure.InvalidConfig:  "correct the file; docs/models.md describes it",
	failure.UnknownSession: "windlass sessions list",
	failure.SessionExists:  "another --session ID, or none for a new one",
	failure.SessionBusy:    "wait for its end, or stop that process",
	failure.Diverged:       "--fork with an entry before that one, or a cascade from which it follows",
	failure.StorageFailed:  "windlass doctor",
	failure.UnknownWait:    "windlass waiting",

	failure.AlreadyAnswered: "windlass waiting, which lists what is open",
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

		waiting *app.WaitsError
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
	case errors.As(err, &waiting):
		return fmt.Sprintf("%s waiting %s", commandline.Self(), waiting.Session)
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
			commandline.Self(), resume.SessionID, commandline.Self(), resume.SessionID)
	case errors.As(err, &half):
		return fmt.Sprintf("%s resume %s --fork %d", commandline.Self(), half.Parent, half.ParentSeq)
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
