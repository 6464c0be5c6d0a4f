package cascade

import (
	"context"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/flow"
	"github.com/windlass-run/windlass/cascade/inputs"
	"github.com/windlass-run/windlass/cascade/settings"
	"github.com/windlass-run/windlass/cascade/shape"
	"github.com/windlass-run/windlass/cascade/triggers"
	"github.com/windlass-run/windlass/cascade/validators"
	"github.com/windlass-run/windlass/schema"
)

type place = document.Place

func describe(at place) string { return at.Describe() }

// checker has what the groups of rules share; each rule is a small method of its group.
type checker struct {
	stop    func() error // why to stop, nil while somebody waits for the result
	known   Known
	cascade *Cascade
	root    place
	phases  []located // every phase, those written in place too

	names     phaseNames
	tools     toolbox
	order     *flow.Order
	lost      map[string]*Problem     // names of other cascades that lead to none
	arguments map[string]*shape.Takes // of the tools that phases run
	templates templates
	schemas   inputs.Schemas
}

func newChecker(ctx context.Context, known Known, c *Cascade, doc *document.Document) *checker {
	return &checker{
		stop: ctx.Err, known: known, cascade: c, root: doc.Root(),
		tools:     toolbox{at: map[string]int{}, builtin: known.Tools, later: known.LaterTool},
		templates: templates{parse: known.CheckTemplate, read: known.Lookups, lookups: map[string][]Lookup{}, files: map[string]place{}},
		schemas:   inputs.Schemas{Stop: ctx.Err}, arguments: map[string]*shape.Takes{}, lost: map[string]*Problem{},
	}
}

// located is a phase with its place.
type located struct {
	*Phase
	at     place
	inline bool // written in place, under an on_error
	index  int  // among all phases
}

// asksModel reports whether the phase is meant to ask a model: whether it neither runs a tool nor waits.
func (p located) asksModel() bool { return !p.at.Has("tool") && !p.at.Has("wait") }

// check runs every rule on the cascade itself. The tools have been gathered before.
func (k *checker) check() {
	k.phases = locatePhases(k.root.Key("phases"), k.cascade.Phases)
	k.names.index(k.phases)
	k.tools.offer(k.phases)
	k.schemas.CheckInputs(k.cascade.InputsSchema, k.root)
	if s := k.cascade.InputsSchema; s != nil && s.Schema != nil {
		k.schemas.CheckFiles(k.root.Key("inputs_schema"), true)
	}
	settings.CheckModel(k.root, "model")
	checkFallback(k.root, k.cascade.Model, k.cascade.Fallback)
	validatorRules{k}.checkValidators()
	soundingRules{k}.checkCascade()
	triggers.Check(k.root.Key("triggers"), k.cascade.Triggers, k.misfits)
	peopleRules{k}.checkCascade()
	k.checkBank()
	phaseRules{k}.checkPhaseNames()
	for _, p := range k.phases {
		if k.root.Document().Full() || k.stop() != nil {
			return
		}
		k.checkPhase(p)
	}
	intraRules{k}.checkAutoContext()
	interRules{k}.checkInterPhase()
	k.checkTokenBudget()
	flowRules{k}.checkFlow()
	graphRules{k}.checkGraph()
	k.checkRunnable()
}

// misfits returns what the inputs_schema, where it is sound, has against an input.
func (k *checker) misfits(input map[string]any) []schema.Violation {
	if !k.root.Intact("inputs_schema") {
		return nil
	}
	return k.cascade.InputsSchema.Match(context.Background(), input)
}

// checkRunnable finds what would only fail when the cascade runs.
func (k *checker) checkRunnable() {
	if k.known.Recorded {
		return
	}
	triggers.CheckGiven(k.root.Key("triggers"), k.cascade.Triggers, k.misfits)
	k.order = k.orderOf()
	for _, p := range k.phases {
		if k.root.Document().Full() || k.stop() != nil {
			return
		}
		orderRules{k}.checkSources(p)
		argumentRules{k}.checkArguments(p)
		argumentRules{k}.checkRefused(p)
	}
	orderRules{k}.checkSharedAnchors()
	graphRules{k}.checkParallelState()
	variableRules{k}.checkVariables()
}

func (k *checker) checkPhase(p located) {
	phase, references := phaseRules{k}, referenceRules{k}
	phase.checkKind(p)
	phase.checkMisplaced(p)
	phase.checkRules(p)
	settings.CheckModel(p.at, "model")
	checkFallback(p.at, k.cascade.modelOf(p.Phase), p.Fallback)
	references.checkTackle(p)
	childRules{k}.checkChildren(p)
	p.Wards.Check(validators.Around{Phase: p.at, AsksModel: p.asksModel(), CheckRef: validatorRules{k}.checkValidatorRef})
	listRules{k}.checkForEach(p)
	soundingRules{k}.checkPhase(p)
	peopleRules{k}.checkPhase(p)
	k.checkMemory(p)
	phase.checkLoopUntil(p)
	references.checkTargets(p)
	references.checkContext(p)
	interRules{k}.checkSelects(p)
	intraRules{k}.checkIntraContext(p)
	if len(p.OutputSchema) > 0 {
		k.schemas.Check(p.at.Key("output_schema"), p.OutputSchema, "output_schema")
	}
	k.templates.checkPhase(p)
}

// locatePhases lists the phases in file order, each before those written in place below it.
func locatePhases(at place, phases []Phase) []located {
	var out []located
	for i := range phases {
		where := at.Index(i)
		for p := &phases[i]; p != nil; p = p.inline() {
			out = append(out, located{Phase: p, at: where, inline: p != &phases[i], index: len(out)})
			where = where.Key("on_error")
		}
	}
	return out
}

func (p located) title() string { return describe(p.at) }
