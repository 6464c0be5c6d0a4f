package echo

import "strings"

// Path is what a key consists of. A key has a Scope or a Phase, never both.
type Path struct {
	Scope    Scope
	Phase    string
	Visit    int    // from 1: how often the phase has begun
	Branches []Step // below the visit, or the run, the outermost first
	Attempt  int    // from 1; 0: before the first
	Turn     int    // from 1; 0: before the first of the attempt
	Effect   []Step // what was done there, and for what: validate:fair, model2
}

// Scope is where something was done that belongs to no phase.
type Scope string

// The scopes.
const (
	ScopeRun   Scope = "run"
	ScopeCards Scope = "cards" // in the background, see [Entry.Background]
)

// Step is a part of a path. It has a number or a name, or neither.
type Step struct {
	Kind   StepKind
	Number int // from 1; 0: there is none
	Name   string
}

// StepKind is a lower-case word.
type StepKind string

// The kinds of branches.
const (
	StepSounding StepKind = "sounding" // numbered: one of several tries
	StepReforge  StepKind = "reforge"  // numbered: a step of refinement
	StepItem     StepKind = "item"     // numbered: an element of a list
	StepNode     StepKind = "node"     // numbered: a phase of a graph, by its place in the file
)

// The kinds of what is done at a place.
const (
	StepStart      StepKind = "start"
	StepEnd        StepKind = "end"
	StepBegin      StepKind = "begin"  // of a phase that runs in a branch, whose start is the branch's
	StepFinish     StepKind = "finish" // of a phase, or of its part, in a branch
	StepResume     StepKind = "resume"
	StepRoute      StepKind = "route"
	StepRouting    StepKind = "routing"
	StepHandoff    StepKind = "handoff"
	StepFacts      StepKind = "facts" // named: what is known of a model
	StepInput      StepKind = "input" // named: a file that the run was given
	StepState      StepKind = "state" // named
	StepCallout    StepKind = "callout"
	StepTemplate   StepKind = "template" // named: a field of the cascade
	StepModel      StepKind = "model"
	StepContext    StepKind = "context"
	StepTool       StepKind = "tool"
	StepValidate   StepKind = "validate" // named: a validator at work
	StepVerdict    StepKind = "verdict"  // named: what a validator said
	StepSelect     StepKind = "select"   // of messages of earlier phases
	StepCards      StepKind = "cards"    // what was found in cards
	StepMenu       StepKind = "menu"     // what a model was asked that chooses
	StepSimilarity StepKind = "meaning"  // a comparison of embeddings
	StepCompact    StepKind = "compact"  // a summary of older messages
	StepRebuild    StepKind = "rebuild"  // of the state block, from what is sent now
	StepRecount    StepKind = "recount"  // an exact count by the provider
	StepSummary    StepKind = "summary"  // the message that replaces older ones
	StepGuard      StepKind = "guard"
	StepClock      StepKind = "clock"
	StepBackground StepKind = "beside" // what background calls took
	StepIdle       StepKind = "idle"
	StepFigures    StepKind = "figures" // of an endpoint
	StepWarning    StepKind = "warning"
	StepCall       StepKind = "call"      // a background model call
	StepEmbed      StepKind = "embed"     // a background request for embeddings
	StepChild      StepKind = "child"     // named: another cascade, as a session of its own
	StepCascade    StepKind = "cascade"   // a cascade that a model has named
	StepAsync      StepKind = "async"     // named: one that runs beside the phase; its end is below run
	StepWard       StepKind = "ward"      // numbered: a validator around the phase, a branch
	StepStopped    StepKind = "stopped"   // an element of a list did not begin, as another had failed
	StepCollected  StepKind = "collected" // the message with the outputs of all elements
	StepCandidate  StepKind = "candidate" // which of several tries a branch is
	StepSeed       StepKind = "seed"      // what decides by chance for candidates
	StepRewrite    StepKind = "rewrite"   // of the instructions of a candidate
	StepWinners    StepKind = "winners"   // earlier rewrites that have won
	StepRoom       StepKind = "room"      // what the budget has left for another candidate
	StepBallot     StepKind = "ballot"    // numbered: a judge compares candidates, a branch
	StepScore      StepKind = "score"     // numbered: a judge looks at one candidate, a branch
	StepAggregate  StepKind = "aggregate" // one answer is written from all
	StepChoice     StepKind = "choice"    // which candidate is kept
	StepWait       StepKind = "wait"      // for a person, or for a signal
	StepImages     StepKind = "images"    // that a question shows
	StepFire       StepKind = "fire"      // of a signal
	StepArtifact   StepKind = "artifact"  // that a model has made
	StepFound      StepKind = "found"     // which artifacts a model was told of
	StepAudible    StepKind = "audible"   // numbered: what a person said while the phase ran
	StepChange     StepKind = "change"    // numbered: what a person has taken out of the views of the session, or back
	StepBank       StepKind = "bank"      // named: what of a bank of memory a run sees
	StepMemory     StepKind = "memory"    // what a call of the memory tool came to, a search in a bank, or what a bank has remembered of a visit
	StepProject    StepKind = "project"   // named: a file of the project folder, for the system prompt
	StepMemos      StepKind = "memos"     // which memos a run sees
	StepMemo       StepKind = "memo"      // what a call of a tool of memos came to
	StepBrought    StepKind = "brought"   // which memos a message has brought

	// Messages that the engine adds to a history.
	StepSystem  StepKind = "system"
	StepTask    StepKind = "task"
	StepRetry   StepKind = "retry"
	StepPrompt  StepKind = "prompt"
	StepNotice  StepKind = "notice"
	StepRepeat  StepKind = "repeat"
	StepResumed StepKind = "resumed"
	StepStands  StepKind = "stands" // named: what stands at the end of a request
)

// isNamed reports whether a name follows the kind.
func (k StepKind) isNamed() bool {
	switch k { //nolint:exhaustive // the others have none
	case StepChild, StepAsync, StepFacts, StepBank, StepProject, StepStands, StepInput, StepState, StepCallout, StepTemplate, StepValidate, StepVerdict:
		return true
	}
	return false
}

// isBranch reports whether the kind is that of a branch below a visit.
func (k StepKind) isBranch() bool {
	return k == StepSounding || k == StepReforge || k == StepItem || k == StepNode
}

// branchesOff reports whether what is done under a numbered step of the kind is a branch of its own.
func (k StepKind) branchesOff() bool {
	return k == StepTool || k == StepWard || k == StepBallot || k == StepScore
}

// The words for attempt and turn.
const (
	wordAttempt = "attempt"
	wordTurn    = "turn"
)

// HasBranches reports whether the key is in a branch below a visit, or that of one.
func (k Key) HasBranches() bool {
	_, rest, _ := strings.Cut(k.text, "/")
	first, _, _ := strings.Cut(rest, "/") // attempts and what is done stand behind branches
	word, _ := cutNumber(first)
	return StepKind(word).isBranch()
}

// Path returns what the key consists of; the zero Path for the zero Key.
func (k Key) Path() Path {
	if k.text == "" {
		return Path{}
	}
	p, err := parsePath(k.text)
	if err != nil {
		panic("echo: a key that was not made here: " + err.Error())
	}
	return p
}

// Key returns the key of the path.
func (p *Path) Key() Key {
	k := Key{string(p.Scope)}
	if p.Scope == "" {
		k = PhaseKey(p.Phase, p.Visit)
	}
	for _, s := range p.Branches {
		k = k.with(s)
	}
	k = k.Attempt(p.Attempt).Turn(p.Turn)
	for _, s := range p.Effect {
		k = k.with(s)
	}
	return k
}

func (k Key) with(s Step) Key {
	if s.Kind.isNamed() {
		return k.Named(s.Kind, s.Name)
	}
	return k.Numbered(s.Kind, s.Number)
}

// Last returns the last step of what was done, the zero Step when nothing was.
func (p *Path) Last() Step {
	if n := len(p.Effect); n > 0 {
		return p.Effect[n-1]
	}
	return Step{}
}

// Node returns the number of the phase in a graph that the path is of, 0 in a cascade without one.
func (p *Path) Node() int {
	if len(p.Branches) > 0 && p.Branches[0].Kind == StepNode {
		return p.Branches[0].Number
	}
	return 0
}

// Parts returns the branches below the visit, the outermost first: a visit is cut into them, such as
// the elements of a list.
func (p *Path) Parts() []Step {
	if p.Node() > 0 {
		return p.Branches[1:]
	}
	return p.Branches
}

// InTurn returns the step of what belongs to a turn itself, such as tool2; else the zero Step.
func (p *Path) InTurn() Step {
	if p.Turn == 0 || len(p.Effect) != 1 {
		return Step{}
	}
	return p.Effect[0]
}

// Branch returns the branch of k: entries are ordered in a branch, not among branches. The trunk is
// the zero Key, above those of visits and of each numbered tool call, ward, ballot or score.
func (k Key) Branch() Key {
	p := k.Path()
	return p.Branch()
}

// Branch is [Key.Branch] of the path's key.
func (p *Path) Branch() Key {
	b := *p
	if e := p.Effect; len(e) > 0 && e[0].Number > 0 && e[0].Kind.branchesOff() {
		b.Effect = e[:1]
		return b.Key()
	}
	if n := len(p.Branches); n > 0 && p.isBranchMark() {
		b.Branches = p.Branches[:n-1]
	}
	if len(b.Branches) == 0 {
		return Key{}
	}
	b.Attempt, b.Turn, b.Effect = 0, 0, nil
	return b.Key()
}

// isBranchMark reports whether the path is a branch's start or end, which belong to its parent.
func (p *Path) isBranchMark() bool {
	return p.Attempt == 0 && len(p.Effect) == 1 && (p.Effect[0].Kind == StepStart || p.Effect[0].Kind == StepEnd)
}

// ParentBranch returns the branch that the branch k grows from. That of the trunk is the trunk.
func (k Key) ParentBranch() Key {
	if k.text == "" {
		return Key{}
	}
	p := k.Path()
	if len(p.Effect) > 0 {
		p.Effect = nil
	} else if n := len(p.Branches); n > 0 {
		p.Branches = p.Branches[:n-1]
	}
	return p.Key().Branch()
}
