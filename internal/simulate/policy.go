package simulate

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// Policy is a way to make views, by name.
type Policy struct {
	Name  string
	Intra cascade.Intra
	// Hindsight moves the frontier by the cheapest schedule, and not as Advance says.
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

// AsRun is the name of what a recorded run really sent. It is no policy that can be chosen.
const AsRun = "as run"

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

// ParsePolicy reads and checks settings as those of an intra_context. source names the text in
// diagnostics; its extension tells YAML from JSON. The error is a [*cascade.InvalidError].
func ParsePolicy(name, source string, text []byte) (Policy, cascade.Diagnostics, error) {
	in, found, err := cascade.ParseIntra(source, text)
	return Policy{Name: name, Intra: in}, found, err
}

// class returns the settings without the schedule, so that one in hindsight measures all policies
// of a class; full history is measured by the defaults. False: clear_tool_uses masks by size, which
// no schedule describes.
func (p Policy) class() (cascade.Intra, bool) {
	c := p.Intra
	if !c.Enabled {
		c = cascade.DefaultIntra()
	}
	c.Advance, c.StepTurns = cascade.AdvanceStep, math.MaxInt32
	return c, c.ClearToolUses == nil
}

// WithHindsight appends the best schedule in hindsight of every class that has none.
func WithHindsight(policies []Policy) []Policy {
	out := slices.Clone(policies)
	for _, p := range policies {
		class, ok := p.class()
		if !ok || hindsightOf(out, p) >= 0 {
			continue
		}
		name := PolicyHindsight
		if def, _ := (Policy{Intra: cascade.DefaultIntra()}).class(); !reflect.DeepEqual(class, def) {
			name = fmt.Sprintf("%s of %s", PolicyHindsight, p.Name)
		}
		class.Advance = cascade.AdvanceCost
		out = append(out, Policy{Name: name, Intra: class, Hindsight: true})
	}
	return out
}

// hindsightOf returns the index of the policy that is the hindsight of p's class, -1 without one.
func hindsightOf(policies []Policy, p Policy) int {
	class, ok := p.class()
	return slices.IndexFunc(policies, func(q Policy) bool {
		c, _ := q.class()
		return ok && q.Hindsight && reflect.DeepEqual(c, class)
	})
}

// settings returns what a builder is given: without a limit, so that the guard does not act. A
// scheduled builder moves the frontier only as its carry says.
func (p Policy) settings(c *Conversation, prices Prices, scheduled bool) autocontext.Settings {
	in := p.Intra
	if scheduled {
		in, _ = p.class()
	}
	return autocontext.Settings{FailuresInText: true, OwnIDs: true, Policy: in, Dialect: c.Dialect, Price: &echo.Price{Input: prices.Input, Cached: prices.Cached}}
}
