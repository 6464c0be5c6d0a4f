package graph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/cascade"
)

// listLine says of which list the elements are that a phase runs for.
func listLine(f *cascade.ForEach) string {
	line := "× " + itemsOf(f.Items)
	if f.MaxParallel > 0 {
		line += fmt.Sprintf(", %d at a time", f.MaxParallel)
	}
	switch f.OnError {
	case cascade.ItemSkip:
		line += ", failed ones left out"
	case cascade.ItemCollect:
		line += ", errors collected"
	case cascade.ItemFail:
	}
	return line
}

// itemsOf is the list as its file writes it: a template, a path, or how many elements stand there.
func itemsOf(items json.RawMessage) string {
	var text string
	if json.Unmarshal(items, &text) == nil {
		return text
	}
	var elements []json.RawMessage
	if json.Unmarshal(items, &elements) != nil {
		return "list"
	}
	if len(elements) == 1 {
		return "1 element"
	}
	return fmt.Sprintf("%d elements", len(elements))
}

// eachWard calls do with every ward of a phase, in the order in which they are asked.
func eachWard(p *cascade.Phase, do func(place string, w *cascade.Ward)) {
	if p.Wards == nil {
		return
	}
	for _, at := range []struct {
		place string
		wards []cascade.Ward
	}{{"pre", p.Wards.Pre}, {"turn", p.Wards.Turn}, {"post", p.Wards.Post}} {
		for i := range at.wards {
			do(at.place, &at.wards[i])
		}
	}
}

// wardLines name the wards of a phase, a line for each place.
func wardLines(p *cascade.Phase) []string {
	var places []string
	names := map[string][]string{}
	eachWard(p, func(place string, w *cascade.Ward) {
		if len(names[place]) == 0 {
			places = append(places, place)
		}
		names[place] = append(names[place], w.Validator+" ("+string(cmp.Or(w.Mode, cascade.WardBlocking))+")")
	})
	out := make([]string, len(places))
	for i, place := range places {
		out[i] = "wards " + place + ": " + list(names[place])
	}
	return out
}

// children adds the cascades that a phase begins: each cascade is one node, however often it is used.
func (b builder) children(at int, p *cascade.Phase) {
	for _, s := range p.SubCascades {
		b.begins(at, s.Ref, Child, named("sub", s.Name))
	}
	for _, a := range p.AsyncCascades {
		label := named("async", a.Name)
		if a.Trigger == cascade.TriggerOnEnd {
			label += ", at the end"
		}
		if a.Detach {
			label += ", detached"
		}
		b.begins(at, a.Ref, Async, label)
	}
	for _, tool := range p.Tackle {
		b.beginsKnown(at, tool, "tool")
	}
	if p.Tool != "" {
		b.beginsKnown(at, p.Tool, "tool")
	}
	if p.Rules.LoopUntil != "" {
		b.validates(at, p.Rules.LoopUntil, "validator")
	}
	eachWard(p, func(place string, w *cascade.Ward) { b.validates(at, w.Validator, "ward "+place) })
}

func named(how, name string) string { return strings.TrimSpace(how + " " + name) }

// validates adds a validator that is a cascade.
func (b builder) validates(at int, text, label string) {
	if v, err := b.cascade.ParseValidator(text); err == nil && v.Kind == cascade.ValidatorCascade {
		b.begins(at, v.Name, Child, label)
	}
}

// beginsKnown adds a cascade by a name that may be that of something else.
func (b builder) beginsKnown(at int, name, label string) {
	if b.cascade.Reaches[name] != nil {
		b.begins(at, name, Child, label)
	}
}

// begins adds that a phase begins a cascade. One that it begins in several ways has one edge for them.
func (b builder) begins(at int, ref string, kind Kind, label string) {
	reached := b.cascade.Reaches[ref]
	id := ref
	if reached != nil {
		id = cmp.Or(reached.File, ref)
	}
	to, there := b.reached[id]
	if !there {
		to = len(b.Nodes)
		b.reached[id] = to
		b.Nodes = append(b.Nodes, cascadeNode(ref, reached))
	}
	for i := range b.Edges {
		if e := &b.Edges[i]; e.From == at && e.To == to && e.Kind == kind {
			if e.Label != label {
				e.Label += ", " + label
			}
			return
		}
	}
	b.Edges = append(b.Edges, Edge{at, to, kind, label})
}

// cascadeNode is the node of a cascade that is named so; nil: nobody has looked for it.
func cascadeNode(ref string, reached *cascade.Reached) Node {
	n := Node{Name: ref, Kind: Cascade}
	if reached == nil || reached.Cascade == nil {
		return n
	}
	c := reached.Cascade
	n.Name = cmp.Or(c.CascadeID, ref)
	if reached.File != "" {
		n.Lines = append(n.Lines, filepath.Base(reached.File))
	}
	n.Lines = append(n.Lines, contents(c))
	return n
}

// contents says how large a cascade is.
func contents(c *cascade.Cascade) string {
	text := fmt.Sprintf("%d phases", len(c.Phases))
	if len(c.Phases) == 1 {
		text = "1 phase"
	}
	switch n := len(c.Reaches); n {
	case 0:
		return text
	case 1:
		return text + ", 1 more cascade"
	default:
		return text + fmt.Sprintf(", %d more cascades", n)
	}
}
