package cascade

// checker looks for what a cascade means wrongly. Each rule is a small method; together they report everything.
type checker struct {
	stop    func() error // why to stop, nil while somebody waits for the result
	known   Known
	cascade *Cascade
	root    place
	tools   []declared
	toolAt  map[string]int  // index in tools by name
	phases  []located       // every phase, those written in place too
	targets []string        // the names that hand-offs can lead to
	named   map[string]bool // by the name of a phase: whether it is a target; those written in place are not
	offered map[string]bool // the tools that the model of some phase can call
	schemas int             // subschemas of all schemas so far
}

// located is a phase with its place.
type located struct {
	*Phase
	at     place
	inline bool // written in place, under an on_error
}

// declared is a tool with its place.
type declared struct {
	*Tool
	at place
}

// check runs every rule on the cascade itself. The tools have been gathered before.
func (k *checker) check() {
	k.phases = locatePhases(k.root.key("phases"), k.cascade.Phases)
	k.indexNames()
	k.indexOffered()
	k.checkInputsSchema(k.cascade.InputsSchema, k.root)
	checkModel(k.root, "model")
	k.checkValidators()
	k.checkPhaseNames()
	for _, p := range k.phases {
		if k.root.doc.full() || k.stop() != nil {
			return
		}
		k.checkPhase(p)
	}
	k.checkAutoContext()
	k.checkInterPhase()
	k.checkTokenBudget()
	k.checkFlow()
}

func (k *checker) checkPhase(p located) {
	k.checkKind(p)
	k.checkMisplaced(p)
	k.checkRules(p)
	checkModel(p.at, "model")
	k.checkTackle(p)
	k.checkLoopUntil(p)
	k.checkTargets(p)
	k.checkContext(p)
	k.checkSelects(p)
	k.checkIntraContext(p)
	k.checkOutputSchema(p)
	k.checkPhaseTemplates(p)
}

// locatePhases lists the phases in the order of the file, each with what is written in place below it.
func locatePhases(at place, phases []Phase) []located {
	var out []located
	for i := range phases {
		p, where := &phases[i], at.index(i)
		out = append(out, located{Phase: p, at: where})
		for p.OnError != nil && p.OnError.Inline != nil {
			p, where = p.OnError.Inline, where.key("on_error")
			out = append(out, located{Phase: p, at: where, inline: true})
		}
	}
	return out
}

// title names a phase in messages.
func (p located) title() string { return describe(p.at) }

// indexNames notes the names of the phases for the rules that look them up.
func (k *checker) indexNames() {
	k.named = make(map[string]bool, len(k.phases))
	for _, p := range k.phases {
		name := p.Name
		if n := p.at.key("name").node(); name == "" && n != nil {
			name = n.Text // The name is wrong and has been reported; that hand-offs lead to it is not a second mistake.
		}
		if name == "" {
			continue
		}
		if !p.inline && !k.named[name] {
			k.targets = append(k.targets, name)
		}
		k.named[name] = k.named[name] || !p.inline
	}
}

// toolNames returns the names that a phase can list, the declared tools first.
func (k *checker) toolNames() []string {
	var names []string
	for _, t := range k.tools {
		names = append(names, t.ToolID)
	}
	return append(names, k.known.Tools...)
}

// checkModel refuses a model's name that is blank. That none is given is no mistake: the command line or the environment
// may bring one.
func checkModel(owner place, key string) {
	if at := owner.key(key); blank(at) {
		at.error(CodeEmptyModel, describe(owner)+" names a model of nothing", "name a model, or remove the key to use the default")
	}
}
