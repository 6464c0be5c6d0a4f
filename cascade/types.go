package cascade

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/people"
	"github.com/windlass-run/windlass/cascade/settings"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/cascade/triggers"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/engine/waiting"
)

// Cascade is a workflow as its file has it; those of [Load] are sound. It does not change.
type Cascade struct {
	Schema       string                     `json:"$schema,omitempty"` // where an editor finds the JSON Schema; not used here
	CascadeID    string                     `json:"cascade_id"`
	Description  string                     `json:"description,omitempty"`
	Tags         []string                   `json:"tags,omitempty"`
	InputsSchema *InputsSchema              `json:"inputs_schema,omitempty"`
	Model        string                     `json:"model,omitempty"`
	Fallback     []string                   `json:"fallback_models,omitzero"`
	AutoContext  *AutoContext               `json:"auto_context,omitempty"`
	TokenBudget  *TokenBudget               `json:"token_budget,omitempty"`
	Budget       *Budget                    `json:"budget,omitempty"`
	Validators   map[string]InlineValidator `json:"validators,omitempty"`
	Tools        []Tool                     `json:"tools,omitempty"`
	MaxParallel  int                        `json:"max_parallel,omitempty"` // of a graph: phases at a time, default 4
	Soundings    *soundings.Soundings       `json:"soundings,omitempty"`
	Audibles     *people.Audibles           `json:"audibles,omitempty"` // of phases that have none of their own
	Memory       *continuity.Memory         `json:"memory,omitempty"`   // of phases that have none of their own
	Continuity   *continuity.Continuity     `json:"continuity,omitempty"`
	Triggers     []triggers.Trigger         `json:"triggers,omitempty"`
	Phases       []Phase                    `json:"phases"`

	// Reaches has the cascades that this one reaches by name, as the file writes the names. They are
	// no part of its JSON.
	Reaches map[string]*Reached `json:"-"`

	needs []need // of templates, as far as the loader was told how to read them
}

// Budget limits a run, which stops before a model call expected to exceed it. Zero is no limit.
type Budget struct {
	MaxUSD     float64 `json:"max_usd,omitempty"`
	MaxTokens  int64   `json:"max_tokens,omitempty"` // in and out together
	MaxSeconds float64 `json:"max_seconds,omitempty"`
}

// InlineValidator has a model answer {valid, reason} to the instructions.
type InlineValidator struct {
	Instructions string `json:"instructions"`
	Model        string `json:"model,omitempty"`
	MaxTurns     int    `json:"max_turns,omitempty"`
}

// ToolType is a type of declared tools.
type ToolType string

// The types of declared tools.
const (
	ToolShell ToolType = "shell"
	ToolHTTP  ToolType = "http"
)

// Tool is a tool that a cascade declares.
type Tool struct {
	ToolID       string            `json:"tool_id"`
	Description  string            `json:"description,omitempty"`
	Type         ToolType          `json:"type"`
	InputsSchema *InputsSchema     `json:"inputs_schema,omitempty"`
	Command      string            `json:"command,omitempty"`     // shell: a template; every value is quoted unless "| raw"
	Method       string            `json:"method,omitempty"`      // http: GET by default
	URL          string            `json:"url,omitempty"`         // http: a template
	Headers      map[string]string `json:"headers,omitempty"`     // http: templates
	Body         string            `json:"body,omitempty"`        // http: a template
	ResponseJQ   string            `json:"response_jq,omitempty"` // a jq program over the result
	Timeout      Duration          `json:"timeout,omitempty"`
	Idempotent   bool              `json:"idempotent,omitempty"` // may be run again after a crash
	Approve      bool              `json:"approve,omitempty"`    // its calls wait for approval
}

// Phase is one step of a cascade: a conversation with a model (Instructions) or one tool run
// (Tool). A phase under on_error without a name gets one from the phase it stands in.
type Phase struct {
	Name string `json:"name"`

	// A phase with a model.
	Instructions    string                     `json:"instructions,omitempty"`
	Model           string                     `json:"model,omitempty"`
	Fallback        []string                   `json:"fallback_models,omitzero"` // nil: the cascade's; empty: none
	Temperature     *float64                   `json:"temperature,omitempty"`
	MaxOutputTokens int                        `json:"max_output_tokens,omitempty"`
	ModelOptions    map[string]json.RawMessage `json:"model_options,omitempty"`
	Tackle          []string                   `json:"tackle,omitempty"` // alias: tools
	UseNativeTools  *bool                      `json:"use_native_tools,omitempty"`
	Rules           Rules                      `json:"rules,omitzero"`
	IntraContext    *IntraContext              `json:"intra_context,omitempty"`
	OutputSchema    json.RawMessage            `json:"output_schema,omitempty"`

	// A deterministic phase.
	Tool    string                     `json:"tool,omitempty"`
	Inputs  map[string]json.RawMessage `json:"inputs,omitempty"` // strings in it are templates
	Routing map[string]string          `json:"routing,omitempty"`
	Retry   *Retry                     `json:"retry,omitempty"`
	Timeout Duration                   `json:"timeout,omitempty"`
	Wait    *people.Wait               `json:"wait,omitempty"` // in place of a tool

	// Either.
	Context  *Context  `json:"context,omitempty"`
	Handoffs []Handoff `json:"handoffs,omitempty"`
	Callouts *Callouts `json:"callouts,omitempty"`
	OnError  *OnError  `json:"on_error,omitempty"`

	After         []string       `json:"after,omitempty"` // the phases that must have ended; with one, the cascade is a graph
	ForEach       *ForEach       `json:"for_each,omitempty"`
	SubCascades   []SubCascade   `json:"sub_cascades,omitempty"`
	AsyncCascades []AsyncCascade `json:"async_cascades,omitempty"`
	Wards         *Wards         `json:"wards,omitempty"`

	Soundings *soundings.Soundings `json:"soundings,omitempty"`

	HumanInput     *people.HumanInput     `json:"human_input,omitempty"`
	DecisionPoints *people.DecisionPoints `json:"decision_points,omitempty"`
	Audibles       *people.Audibles       `json:"audibles,omitempty"`

	Memory     *continuity.Memory     `json:"memory,omitempty"`
	Continuity *continuity.Continuity `json:"continuity,omitempty"`
}

// ContinuityOf returns what goes on in a phase where its messages do not: nothing in one that asks no model.
func ContinuityOf(c *Cascade, p *Phase) continuity.InForce {
	if p.Deterministic() {
		return continuity.InForce{}
	}
	return continuity.InForceFor(p.Continuity, c.Continuity)
}

// BankOf returns the bank of memory that a phase uses: its own, else that of the cascade; "" where it uses none, as a phase
// that neither asks a model nor runs the memory tool.
func (c *Cascade) BankOf(p *Phase) string {
	if m := MemoryOf(c, p); m != nil {
		return m.Name
	}
	return ""
}

// MemoryOf returns the memory of a phase: its own, else that of the cascade; nil where it has none, as a phase that neither
// asks a model nor runs the memory tool.
func MemoryOf(c *Cascade, p *Phase) *continuity.Memory {
	if p.Deterministic() && p.Tool != memory.Tool {
		return nil
	}
	if p.Memory != nil {
		return p.Memory
	}
	return c.Memory
}

// RecallToolOf returns the name of the tool by which the model of a phase searches in its bank; "" where it cannot.
func RecallToolOf(c *Cascade, p *Phase) string {
	if p.Deterministic() {
		return ""
	}
	return MemoryOf(c, p).Tool()
}

// ProjectFileOf returns the file of the project folder that stands in the system prompt of a phase; "" for none.
func ProjectFileOf(c *Cascade, p *Phase) string {
	if m := MemoryOf(c, p); m != nil && !p.Deterministic() {
		return m.ProjectFile
	}
	return ""
}

// ProjectFilesOf returns the files of the project folder that phases of a cascade are shown, each once, in their order.
func ProjectFilesOf(c *Cascade) (paths []string) {
	for p := range c.EachPhase() {
		if path := ProjectFileOf(c, p); path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// BanksOf returns the banks of memory that the phases of a cascade use, each once, in their order.
func BanksOf(c *Cascade) (names []string) {
	add := func(p *Phase) {
		if name := c.BankOf(p); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range c.Phases {
		p := &c.Phases[i]
		if add(p); p.OnError != nil && p.OnError.Inline != nil {
			add(p.OnError.Inline)
		}
	}
	return names
}

// RememberingBanksOf returns those of the banks that remember by themselves what phases say.
func RememberingBanksOf(c *Cascade) []string {
	remembers := map[string]bool{}
	for p := range c.EachPhase() {
		if m := MemoryOf(c, p); m.Remembers() {
			remembers[m.Name] = true
		}
	}
	return slices.DeleteFunc(BanksOf(c), func(name string) bool { return !remembers[name] })
}

// AudiblesOf returns the audibles of a phase: its own, else those of the cascade; nil where it takes none, as a phase without a
// model and one that runs in several parts.
func (c *Cascade) AudiblesOf(p *Phase) *people.Audibles {
	a := p.Audibles
	if a == nil {
		a = c.Audibles
	}
	if !a.On() || p.Deterministic() || p.ForEach != nil || p.Soundings.Active() || c.Soundings.Active() {
		return nil
	}
	return a
}

// Deterministic reports whether the phase runs one tool without a model.
func (p *Phase) Deterministic() bool { return p.Tool != "" || p.Wait != nil }

// Runs returns the name of the tool that a deterministic phase runs.
func (p *Phase) Runs() string {
	if p.Wait != nil {
		return waiting.ToolAny
	}
	return p.Tool
}

// RunInputs returns the inputs of that tool, whose strings are templates.
func (p *Phase) RunInputs() map[string]json.RawMessage {
	if p.Wait != nil {
		return p.Wait.Inputs()
	}
	return p.Inputs
}

// NativeTools reports whether tools are called by the provider's protocol, or by JSON blocks.
func (p *Phase) NativeTools() bool { return p.UseNativeTools == nil || *p.UseNativeTools }

// Rules bound a phase's loops. Use the methods: they know the defaults.
type Rules struct {
	MaxTurns          int    `json:"max_turns,omitempty"`    // default 1 without tools, 25 with
	MaxAttempts       int    `json:"max_attempts,omitempty"` // default 1; 3 with an output_schema
	LoopUntil         string `json:"loop_until,omitempty"`
	Check             Check  `json:"check,omitempty"` // when loop_until is asked; default attempt
	LoopUntilPrompt   string `json:"loop_until_prompt,omitempty"`
	LoopUntilSilent   bool   `json:"loop_until_silent,omitempty"`
	RetryInstructions string `json:"retry_instructions,omitempty"`
	AllowEmpty        bool   `json:"allow_empty,omitempty"`
	TurnPrompt        string `json:"turn_prompt,omitempty"`

	OnExhausted  OnExhausted `json:"on_exhausted,omitempty"`  // default fail
	RequireTools bool        `json:"require_tools,omitempty"` // a tool that cannot be offered is an error, not a warning
	Approve      []string    `json:"approve,omitempty"`       // names of tools whose calls wait for approval; * stands for any characters
}

// Check says when loop_until is asked.
type Check string

// The times of a check.
const (
	CheckAttempt   Check = "attempt"    // when an attempt ends
	CheckEveryTurn Check = "every_turn" // also after every turn before, which can end the attempt early
)

// Defaults of Rules.
const (
	DefaultMaxTurns            = 1
	DefaultMaxTurnsWithTools   = 25
	DefaultMaxAttempts         = 1
	DefaultMaxAttemptsOfSchema = 3
)

// ChoosesRoute reports whether the model chooses what follows: of several, or by a description.
func (p *Phase) ChoosesRoute() bool {
	return len(p.Handoffs) > 1 || len(p.Handoffs) == 1 && p.Handoffs[0].Description != ""
}

// MaxTurns returns the number of turns of one attempt of a phase. A phase that chooses its route has a tool, and
// so has one with a bank, a scratchpad or memos.
func (c *Cascade) MaxTurns(p *Phase) int {
	switch {
	case p.Rules.MaxTurns > 0:
		return p.Rules.MaxTurns
	case len(p.Tackle) > 0 || c.BankOf(p) != "" || ContinuityOf(c, p).HasTools() || p.ChoosesRoute():
		return DefaultMaxTurnsWithTools
	default:
		return DefaultMaxTurns
	}
}

// MaxAttempts returns the number of attempts the phase may take.
func (p *Phase) MaxAttempts() int {
	switch {
	case p.Rules.MaxAttempts > 0:
		return p.Rules.MaxAttempts
	case len(p.OutputSchema) > 0:
		return DefaultMaxAttemptsOfSchema
	default:
		return DefaultMaxAttempts
	}
}

// Handoff is a phase that may run next. In a file it is a phase's name or an object.
type Handoff struct {
	Target      string `json:"target"`
	Description string `json:"description,omitempty"` // tells the model when to choose it
}

// Retry says how often a deterministic phase's tool is tried.
type Retry struct {
	MaxAttempts        int     `json:"max_attempts,omitempty"` // default 1
	Backoff            Backoff `json:"backoff,omitempty"`      // default none
	BackoffBaseSeconds float64 `json:"backoff_base_seconds,omitempty"`
}

// Backoff is how the wait between tries grows.
type Backoff string

// The backoffs.
const (
	BackoffNone        Backoff = "none"
	BackoffLinear      Backoff = "linear"
	BackoffExponential Backoff = "exponential"
)

// OnError is where a failed phase goes: a phase by name, or one written in place. One is set.
type OnError struct {
	Phase  string
	Inline *Phase
}

// Context says what comes into a phase from other phases.
type Context struct {
	Mode         ContextMode `json:"mode,omitempty"` // default explicit
	From         []Source    `json:"from,omitempty"`
	Exclude      []string    `json:"exclude,omitempty"`       // phases that "all" and a selection leave out
	IncludeInput *bool       `json:"include_input,omitempty"` // default: unless the instructions use it themselves
	Anchors      *Anchors    `json:"anchors,omitempty"`       // with the mode auto
	Selection    *Selection  `json:"selection,omitempty"`     // with the mode auto
}

// ContextMode says who chooses what comes into a phase.
type ContextMode string

// The modes.
const (
	ContextExplicit ContextMode = "explicit" // From lists it
	ContextAuto     ContextMode = "auto"     // messages of earlier phases are selected, beside what From lists
)

// The words that From understands beside phase names.
const (
	FromAll      = settings.FromAll
	FromFirst    = settings.FromFirst
	FromPrevious = settings.FromPrevious // alias: prev
)

// Source is one entry of Context.From: in a file a name, or an object.
type Source struct {
	Phase          string         `json:"phase"`
	Include        []Include      `json:"include,omitempty"` // default: output and images
	MessagesFilter MessagesFilter `json:"messages_filter,omitempty"`
	AsRole         string         `json:"as_role,omitempty"`   // user (default) or system
	Condition      string         `json:"condition,omitempty"` // a template; "", "false", "0", "none" leave the source out
}

// TakesOver reports whether the source brings the output or messages of its phases, which then are
// neither anchors nor candidates of a selection.
func (s Source) TakesOver() bool {
	return len(s.Include) == 0 || slices.Contains(s.Include, IncludeOutput) || slices.Contains(s.Include, IncludeMessages)
}

// Include is one thing a Source brings in.
type Include string

// What a Source can bring in.
const (
	IncludeOutput   Include = "output"
	IncludeMessages Include = "messages"
	IncludeImages   Include = "images"
	IncludeState    Include = "state"
)

// MessagesFilter picks messages of a phase.
type MessagesFilter string

// The filters.
const (
	MessagesAll           MessagesFilter = "all"
	MessagesAssistantOnly MessagesFilter = "assistant_only"
	MessagesLastTurn      MessagesFilter = "last_turn"
)

// Callouts mark messages as important. In a file they are a template for Output, or an object.
type Callouts struct {
	Output         string         `json:"output,omitempty"`   // a template: the name of the output's callout
	Messages       string         `json:"messages,omitempty"` // a template: the name of the messages' callouts
	MessagesFilter MessagesFilter `json:"messages_filter,omitempty"`
}

// Duration is [document.Duration].
type Duration = document.Duration

// EachPhase returns every phase, those that stand in an on_error after the one that has it.
func (c *Cascade) EachPhase() iter.Seq[*Phase] {
	return func(yield func(*Phase) bool) {
		for i := range c.Phases {
			for p := &c.Phases[i]; p != nil; p = p.inline() {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// inline returns the phase written in place under on_error, or nil.
func (p *Phase) inline() *Phase {
	if p.OnError == nil {
		return nil
	}
	return p.OnError.Inline
}

func (c *Cascade) any(is func(*Phase) bool) bool {
	for p := range c.EachPhase() {
		if is(p) {
			return true
		}
	}
	return false
}

// Has reports whether the cascade has a phase of this name.
func (c *Cascade) Has(phase string) bool {
	return c.any(func(p *Phase) bool { return p.Name == phase })
}

// EndsRun reports whether a target of hand-offs and routes is no phase but a word by which older files
// end the run.
func (c *Cascade) EndsRun(target string) bool {
	return slices.Contains([]string{"end", "END", "_end"}, target) && !c.Has(target)
}

// FileOrder reports whether phases run in the order of the file: none has hand-offs, routing or
// "after". In a cascade that is no graph either, a phase without them ends the run.
func (c *Cascade) FileOrder() bool {
	return !c.any(func(p *Phase) bool { return len(p.routes()) > 0 || len(p.After) > 0 })
}

// UsesCards reports whether a phase selects messages or offers its model a search of them.
func (c *Cascade) UsesCards() bool {
	return c.any(func(p *Phase) bool { return slices.Contains(p.Tackle, searchTool) || c.EffectiveInter(p).Enabled })
}

func (p *Phase) routes() []string {
	names := slices.Collect(maps.Values(p.Routing))
	for _, h := range p.Handoffs {
		names = append(names, h.Target)
	}
	return names
}
