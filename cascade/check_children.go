package cascade

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/wording"
	"github.com/windlass-run/windlass/engine/artifact"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/engine/standing"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/source"
)

// childRules are those of other cascades that phases reach.
type childRules struct{ *checker }

// resolve finds another cascade, once for each name, and keeps it in the cascade.
func (k *checker) resolve(ref string) (*Reached, *Problem) {
	if r := k.cascade.Reaches[ref]; r != nil {
		return r, nil
	}
	if p := k.lost[ref]; p != nil {
		return nil, p
	}
	if k.known.Resolve == nil {
		return nil, &Problem{
			NotFound: true, Message: fmt.Sprintf("no cascade is called %q here: names of other cascades are not looked up", ref),
			Hint: "other cascades are found from a file: load the cascade from its own",
		}
	}
	r, p := k.known.Resolve(ref)
	if p != nil {
		k.lost[ref] = p
		return nil, p
	}
	if k.cascade.Reaches == nil {
		k.cascade.Reaches = map[string]*Reached{}
	}
	k.cascade.Reaches[ref] = r
	return r, nil
}

// blind reports whether names of other cascades stand for what nobody can know here: the cascade has
// begun to run, and what it reaches is recorded elsewhere.
func (k *checker) blind() bool { return k.known.Recorded && k.known.Resolve == nil }

// broken reports what is wrong with a name of another cascade.
func broken(at place, from string, p *Problem) {
	code := CodeInvalidCascade
	if p.NotFound {
		code = CodeUnknownCascade
	}
	at.Error(code, from+": "+p.Message, p.Hint)
	at.Document().Add(p.Found...)
}

// reach resolves a name that can only be that of a cascade, and returns nil when it is none.
func (k childRules) reach(at place, ref, from string) *Reached {
	switch {
	case !at.Sound() || at.Node() == nil || at.Document().Full() || k.blind():
		return k.cascade.Reaches[ref]
	case at.Blank():
		at.Error(CodeUnknownCascade, from+" names no cascade", "write a path relative to this file, or a cascade_id")
		return nil
	}
	r, problem := k.resolve(ref)
	if problem != nil {
		broken(at, from, problem)
	}
	return r
}

func (k childRules) checkChildren(p located) {
	subs := children{childRules: k, phase: p, key: "sub_cascades", names: map[string]place{}}
	for i := range p.SubCascades {
		s := &p.SubCascades[i]
		subs.check(i, s.Ref, s.Name, s.InputMap, s.ContextIn)
	}
	asyncs := children{childRules: k, phase: p, key: "async_cascades", names: map[string]place{}}
	for i := range p.AsyncCascades {
		a := &p.AsyncCascades[i]
		asyncs.check(i, a.Ref, a.Name, a.InputMap, a.ContextIn)
	}
}

// children are those of a phase under one key.
type children struct {
	childRules
	phase located
	key   string
	names map[string]place
}

func (c *children) check(i int, ref, name string, inputMap map[string]string, context bool) {
	at := c.phase.at.Key(c.key).Index(i)
	refAt := at
	if n := at.Node(); n != nil && n.Kind == source.Object {
		refAt = at.Key("ref")
	}
	from := fmt.Sprintf("%q of %s", c.key, c.phase.title())
	r := c.reach(refAt, ref, from)
	if name = childName(name, ref, r); name != "" {
		if first, taken := c.names[name]; taken {
			refAt.Error(CodeDuplicateChild, fmt.Sprintf("two of %s are called %q; the first is at %s", from, name, first), `give one of them another "name"`)
		} else {
			c.names[name] = refAt
		}
	}
	if r != nil && at.Intact("input_map") {
		g := given{to: r, what: fmt.Sprintf("the cascade %q in %s", r.Cascade.CascadeID, from), owner: at, key: "input_map", some: context}
		c.checkGiven(&g, slices.Sorted(maps.Keys(inputMap)))
	}
}

// childName returns the name of a child in its phase, "" when it is not known.
func childName(name, ref string, r *Reached) string {
	if name != "" || r == nil {
		return cmp.Or(name, ref)
	}
	return r.Cascade.CascadeID
}

// given is what another cascade is given as input.
type given struct {
	to    *Reached
	what  string // in messages
	owner place
	key   string // below it, of the inputs
	some  bool   // it gets other inputs, too
}

// checkGiven finds inputs that a cascade does not take, and those that it lacks.
func (k childRules) checkGiven(g *given, names []string) {
	if k.known.Recorded {
		return
	}
	c := g.to.Cascade
	inputs := g.owner.Key(g.key)
	for _, name := range names {
		if !c.InputsSchema.Takes(name) && inputs.Intact(name) {
			all := c.InputsSchema.Members()
			inputs.KeyError(name, CodeUnknownArgument, fmt.Sprintf("%s does not take the input %q", g.what, name), cmp.Or(wording.Meant(name, all), wording.KnownNames("its inputs are ", all)))
		}
	}
	if g.some {
		return
	}
	for _, name := range needsInput(c) {
		if slices.Contains(names, name) || inputs.Has(name) {
			continue
		}
		message, hint := fmt.Sprintf("%s gets no input %q, which it needs", g.what, name), fmt.Sprintf("add %q to %q", name, g.key)
		if g.owner.Has(g.key) {
			g.owner.KeyError(g.key, CodeMissingArgument, message, hint)
		} else {
			g.owner.Error(CodeMissingArgument, message, hint)
		}
	}
}

// needsInput returns the inputs without which a run does not begin.
func needsInput(c *Cascade) []string {
	needs := map[string]bool{}
	for _, m := range c.missing("input", map[string]any{}) {
		needs[m.name] = true
	}
	if c.InputsSchema != nil && c.InputsSchema.Schema != nil {
		var s struct {
			Required []string `json:"required"`
		}
		if json.Unmarshal(c.InputsSchema.Schema, &s) == nil {
			for _, name := range s.Required {
				needs[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(needs))
}

// ToolName returns the name by which a model calls the cascade: its cascade_id, as providers accept
// the names of tools.
func (r *Reached) ToolName() string {
	const longest = 64
	name := strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			return c
		}
		return '_'
	}, r.Cascade.CascadeID)
	return name[:min(len(name), longest)]
}

// checkToolNames refuses two tools of a phase that its model would call by one name.
func (k childRules) checkToolNames(p located, list place) {
	taken := map[string]string{}
	for i, name := range p.Tackle {
		r := k.cascade.Reaches[name]
		called := name
		if r != nil && !k.tools.has(name) {
			called = r.ToolName()
		}
		if first, is := taken[called]; is && first != name {
			list.Index(i).Error(CodeDuplicateTool, fmt.Sprintf("the model of %s would call %q and %q by one name, %q", p.title(), first, name, called), "remove one of the two, or give the cascade another cascade_id")
		}
		taken[called] = name
	}
}

// checkTool looks for a tool of this name among cascades, and reports that there is neither.
func (k childRules) checkTool(at place, name, from string, byModel bool) {
	switch {
	case !at.Sound() || k.tools.has(name) || k.blind():
		return
	case name == routeTool || k.known.Resolve == nil && !isCascadeFile(name) && (!byModel || wording.Lacks(name) == "") || at.Document().Full():
		k.tools.check(at, name, from)
		return
	case byModel && wording.Lacks(name) != "":
		k.checkUnavailable(at, name, from)
		return
	}
	r, problem := k.resolve(name)
	switch {
	case problem != nil && problem.NotFound:
		k.tools.unknown(at, name, from, problem.Hint)
	case problem != nil:
		broken(at, from, problem)
	case r != nil && !k.known.Recorded && IsEngineTool(r.ToolName()):
		at.Error(CodeShadowsBuiltin, fmt.Sprintf("%s names the cascade %q, which would never run: calls of %q go to the built-in tool", from, r.Cascade.CascadeID, r.ToolName()),
			"give the cascade another cascade_id, or begin it by sub_cascades")
	case r != nil && !byModel:
		k.checkToolInputs(at, r, from)
	}
}

// spawnTool is the tool by which a model begins a cascade that it names.
const spawnTool = "spawn_cascade"

// IsEngineTool reports whether a tool is one that the engine answers itself, whatever else has its name.
func IsEngineTool(name string) bool {
	switch name {
	case recallTool, searchTool, setStateTool, getStateTool, routeTool, spawnTool:
		return true
	}
	return waiting.Asks(name) || name == waiting.ToolFire || artifact.Is(name) || IsMemoryTool(name)
}

// IsMemoryTool reports whether a tool reads and writes what outlasts a run: its results are shortened only when the guard
// needs the room.
func IsMemoryTool(name string) bool {
	return name == memory.Tool || name == standing.Scratchpad || memo.Is(name)
}

// checkToolInputs holds the inputs of a phase that runs a cascade as its tool against what that takes.
func (k childRules) checkToolInputs(at place, r *Reached, from string) {
	for _, p := range k.phases {
		if p.at.Key("tool").Pointer() == at.Pointer() && p.at.Intact("inputs") {
			g := given{to: r, what: fmt.Sprintf("the cascade %q of %s", r.Cascade.CascadeID, from), owner: p.at, key: "inputs"}
			k.checkGiven(&g, slices.Sorted(maps.Keys(p.Inputs)))
		}
	}
}

// validated are the inputs of a cascade that is a validator.
var validated = []string{"content", "original_input", "has_images", "image_count"}

// checkJudge checks that a cascade can be a validator.
func (k childRules) checkJudge(at place, r *Reached) {
	c := r.Cascade
	const hint = `give it an inputs_schema that takes "content", and "original_input" if it needs that; it answers {"valid", "reason"}`
	if c.InputsSchema == nil {
		at.Error(CodeInvalidValidator, fmt.Sprintf("the cascade %q is no validator: it has no inputs_schema", c.CascadeID), hint)
		return
	}
	if !c.InputsSchema.Takes("content") {
		at.Error(CodeInvalidValidator, fmt.Sprintf(`the cascade %q is no validator: its inputs_schema does not take "content"`, c.CascadeID), hint)
	}
	for _, name := range needsInput(c) {
		if !slices.Contains(validated, name) {
			at.Error(CodeInvalidValidator, fmt.Sprintf("the cascade %q is no validator: it needs the input %q, which a validator does not get", c.CascadeID, name), hint)
		}
	}
}
