package cascade

import (
	"cmp"
	"encoding/json"
	"iter"

	"github.com/windlass-run/windlass/cascade/shape"
)

// Bounds of the work that a cascade spreads.
const (
	DefaultMaxParallel = 4     // phases of a graph, and elements of a list, at a time
	MaxItems           = 10000 // of a list
	MaxDepth           = 5     // of children below each other; a cascade without a parent has depth 0
)

// SubCascade is another cascade that runs before the first call of a phase.
type SubCascade struct {
	Ref        string            `json:"ref"`                   // a path relative to the file, or a cascade_id
	Name       string            `json:"name,omitempty"`        // of its output in subs; default its cascade_id
	InputMap   map[string]string `json:"input_map,omitempty"`   // of its input: a template, or the name of a value of state or input
	ContextIn  bool              `json:"context_in,omitempty"`  // it is given the state and the input
	ContextOut bool              `json:"context_out,omitempty"` // its state is merged into that of the run
}

// AsyncCascade is another cascade that runs beside a phase. The end of the run waits for it.
type AsyncCascade struct {
	Ref       string            `json:"ref"`
	Name      string            `json:"name,omitempty"`
	Trigger   Trigger           `json:"trigger,omitempty"` // default on_start
	InputMap  map[string]string `json:"input_map,omitempty"`
	ContextIn bool              `json:"context_in,omitempty"`
	Detach    bool              `json:"detach,omitempty"` // the end of the run does not wait for it
}

// Trigger says when an [AsyncCascade] begins.
type Trigger string

// The triggers.
const (
	TriggerOnStart Trigger = "on_start" // when the phase begins
	TriggerOnEnd   Trigger = "on_end"   // when it has ended well
)

// ForEach runs a phase once for each element of a list. The output is the list of their outputs.
type ForEach struct {
	// Items is a list, or a string: a template whose text is a JSON list, or the path of a list,
	// such as outputs.plan.files.
	Items       json.RawMessage `json:"items"`
	As          string          `json:"as,omitempty"`           // the variable of the element, default item; NAME_index has its number from 0
	MaxParallel int             `json:"max_parallel,omitempty"` // elements at a time, default 4
	OnError     ItemError       `json:"on_error,omitempty"`     // default fail
}

// ItemError says what becomes of a list when one of its elements fails.
type ItemError string

// What becomes of it.
const (
	ItemFail    ItemError = "fail"    // no further element begins, and the phase fails
	ItemSkip    ItemError = "skip"    // the output leaves it out
	ItemCollect ItemError = "collect" // the output has {"error", "item"} in its place
)

// DefaultAs is the variable of an element when [ForEach.As] names none.
const DefaultAs = "item"

// Variable returns the name of the variable of the element.
func (f *ForEach) Variable() string { return cmp.Or(f.As, DefaultAs) }

// Parallel returns how many elements run at a time.
func (f *ForEach) Parallel() int { return cmp.Or(f.MaxParallel, DefaultMaxParallel) }

// Parallel returns how many phases of a graph run at a time.
func (c *Cascade) Parallel() int { return cmp.Or(c.MaxParallel, DefaultMaxParallel) }

// IsGraph reports whether the order of the phases is a graph: whether one has "after".
func (c *Cascade) IsGraph() bool {
	return c.any(func(p *Phase) bool { return len(p.After) > 0 })
}

// IsTemplate reports whether a text has a part that is rendered: an input of a child, or the items of
// a list, is a template then, and else the path of a value.
func IsTemplate(text string) bool {
	return shape.IsTemplate(text)
}

// Validators yields the validators of a phase as they are written, each with the key that has it.
func (p *Phase) Validators() iter.Seq2[string, string] {
	return func(yield func(key, validator string) bool) {
		if p.Rules.LoopUntil != "" && !yield("loop_until", p.Rules.LoopUntil) {
			return
		}
		for key, validator := range p.Soundings.Validators() {
			if !yield(key, validator) {
				return
			}
		}
		if p.Wards == nil {
			return
		}
		for _, moment := range []struct {
			key   string
			wards []Ward
		}{{"wards.pre", p.Wards.Pre}, {"wards.turn", p.Wards.Turn}, {"wards.post", p.Wards.Post}} {
			for _, w := range moment.wards {
				if !yield(moment.key, w.Validator) {
					return
				}
			}
		}
	}
}

// OnExhausted says what becomes of a phase none of whose attempts passed.
type OnExhausted string

// What becomes of it.
const (
	ExhaustedFail     OnExhausted = "fail"
	ExhaustedContinue OnExhausted = "continue" // the last answer is its output, with a warning
)

// Reached is another cascade that a cascade reaches by a name: a child, a validator, a tool. It was
// read when the run began, and is used from there.
type Reached struct {
	File    string
	Hash    string // of the cascade as it is recorded: 16 hexadecimal digits of its SHA-256
	Cascade *Cascade
}

// Problem says why a name reaches no cascade.
type Problem struct {
	NotFound bool // there is none of this name, which may be that of something else
	Message  string
	Hint     string
	Found    Diagnostics // what is wrong with the files that are reached, when that is the reason
}
