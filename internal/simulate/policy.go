package simulate

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
)

// Policy is a way to make views, by name.
type Policy struct {
	Name  string
	Intra cascade.Intra
	// Hindsight moves the frontier as it would have been best for the conversation as it went: what the settings could
	// have cost at least, had they known. Advance does not count then.
	Hindsight bool
}

// The named policies. "step:N" is one for every N.
const (
	PolicyFull      = "full"       // full history
	PolicyDefault   = "default"    // the defaults of intra_context: the frontier moves when it pays
	PolicyEveryTurn = "every_turn" // the defaults, but the frontier moves on every turn
	PolicyHindsight = "hindsight"  // the defaults, with the best schedule in hindsight
	policyStep      = "step:"
)

// PolicyNames are the forms of a policy's name, for help and errors.
func PolicyNames() []string {
	return []string{PolicyFull, PolicyDefault, PolicyEveryTurn, policyStep + "N", PolicyHindsight}
}

// ComparisonSet returns the policies that are compared when none is named.
func ComparisonSet() []Policy {
	var set []Policy
	for _, name := range []string{PolicyFull, PolicyEveryTurn, policyStep + "10", PolicyDefault} {
		p, ok := NamedPolicy(name)
		if !ok {
			panic("simulate: the policy " + name + " is not known") // a test makes the set
		}
		set = append(set, p)
	}
	return set
}

// NamedPolicy returns a policy by its name, false when there is none of that name.
func NamedPolicy(name string) (Policy, bool) {
	p := Policy{Name: name, Intra: cascade.DefaultIntra()}
	switch name {
	case PolicyFull:
		p.Intra.Enabled = false
	case PolicyDefault, "cost":
	case PolicyEveryTurn:
		p.Intra.Advance = cascade.AdvanceEveryTurn
	case PolicyHindsight:
		p.Hindsight = true
	default:
		steps, ok := strings.CutPrefix(name, policyStep)
		n, err := strconv.Atoi(steps)
		if !ok || err != nil || n < 1 {
			return Policy{}, false
		}
		p.Intra.Advance, p.Intra.StepTurns = cascade.AdvanceStep, n
	}
	return p, true
}

// ParsePolicy reads settings as an intra_context has them, and checks them as a cascade's are. source stands for the text
// in what is found, and its extension tells YAML from JSON. Warnings are found too; the error is a [*cascade.InvalidError].
func ParsePolicy(name, source string, text []byte) (Policy, cascade.Diagnostics, error) {
	in, found, err := cascade.ParseIntra(source, text)
	return Policy{Name: name, Intra: in}, found, err
}

// class returns the settings without what says when the frontier moves: policies of one class differ only in their
// schedules, so one schedule in hindsight is the measure of all of them. Full history is the schedule of any class that
// never moves; it is measured by the defaults. False: the settings do more than a schedule can say, because
// clear_tool_uses masks by the size of a request.
func (p Policy) class() (cascade.Intra, bool) {
	c := p.Intra
	if !c.Enabled {
		c = cascade.DefaultIntra()
	}
	c.Advance, c.StepTurns = cascade.AdvanceStep, math.MaxInt32
	return c, c.ClearToolUses == nil
}

// WithHindsight returns the policies and, behind them, the best schedule in hindsight of every class that has none among
// them yet.
func WithHindsight(policies []Policy) []Policy {
	out := append([]Policy{}, policies...)
	for _, p := range policies {
		class, ok := p.class()
		if !ok || hindsightOf(out, class) >= 0 {
			continue
		}
		name := PolicyHindsight
		if def, _ := (Policy{Intra: cascade.DefaultIntra()}).class(); !reflect.DeepEqual(class, def) {
			name = fmt.Sprintf("%s of %s", PolicyHindsight, p.Name)
		}
		in := class
		in.Advance = cascade.AdvanceCost
		out = append(out, Policy{Name: name, Intra: in, Hindsight: true})
	}
	return out
}

// hindsightOf returns the index of the policy that is the hindsight of a class, -1 when there is none.
func hindsightOf(policies []Policy, class cascade.Intra) int {
	for i, p := range policies {
		if c, _ := p.class(); p.Hindsight && reflect.DeepEqual(c, class) {
			return i
		}
	}
	return -1
}

// settings returns what a builder is given. There is no limit: the guard does not act in a simulation, so that policies
// are compared by what they choose and not by what they are forced to. A scheduled builder moves the frontier only as its
// carry says.
func (p Policy) settings(c *Conversation, prices Prices, scheduled bool) autocontext.Settings {
	in := p.Intra
	if scheduled {
		in, _ = p.class()
	}
	return autocontext.Settings{Policy: in, Dialect: c.Dialect, Price: prices.card()}
}
