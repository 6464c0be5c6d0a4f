package cascade

import "github.com/windlass-run/windlass/cascade/wording"

// What the run itself keeps in state, beside what set_state sets.
const (
	StateOutputPrefix    = "output_"                  // and the name of a phase: its output
	StateHumanPrefix     = "human_"                   // and the name of a phase: what a person answered to its human_input
	StateValidatedOutput = "validated_output"         // the newest that has passed an output_schema
	StateLastError       = "last_deterministic_error" // of a phase that runs a tool
)

// Variables are what templates see, with a value of the right kind for each: an object with the
// members it always has, or an empty one when they differ from run to run.
type Variables struct {
	Phase     map[string]any // the templates of a phase
	Validator map[string]any // the instructions of a validator
}

// Lookup is one place where a template looks up a variable that it does not bind itself.
type Lookup struct {
	Line, Col int // from one, inside the template's text; Col counts bytes

	// Path is the variable and the members that are taken of it, strings, or items, integers, up to
	// the first that only the rendering knows. At least Safe of it cannot fail here, as behind
	// default.
	Path []any
	Safe int

	Perhaps bool // not every rendering comes to it
}

// expression writes the first n parts of the path as a template does.
func (l *Lookup) expression(n int) string { return wording.Expression(l.Path[:n]) }

// need is a place where a template of a phase or a validator uses a value from outside the run.
type need struct {
	Lookup
	where string
}
