package redaction

import (
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/cascade/triggers"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/sounding"
)

// Why something stays.
const (
	aName     = "a name: of a phase, a tool, a model, a file or a setting; keys, requests and other members refer to it"
	aWord     = "one of a few words, which the engine or the language has"
	aHash     = "a hash or a digest"
	aSetting  = "settings, without words of people"
	inKeys    = "keys of verdicts have it, and a replay compares them; where it has a text that was taken out, it is reported"
	inHashes  = "the hash of each request has it, and a replay compares them; where it has a text that was taken out, it is reported"
	aProgram  = "a program: with another text in it it would do something else; where it has a text that was taken out, it is reported"
	ofTheRun  = "what a run was given, which never has secrets but for the state of a child and which of several tries it is, which plan.go changes: docs/architecture.md"
	ofPeople  = "said by whoever redacted, when they did"
	elsewhere = "plan.go changes it; TestEveryPlace"
)

// wordTypes are types of strings that have no content, wherever they stand.
var wordTypes = map[reflect.Type]string{
	reflect.TypeFor[echo.Hash](): aHash, reflect.TypeFor[echo.NodeType](): aWord, reflect.TypeFor[echo.Role](): aWord, reflect.TypeFor[echo.Kind](): aWord,
	reflect.TypeFor[echo.StopReason](): aWord, reflect.TypeFor[echo.PartType](): aWord, reflect.TypeFor[echo.ModelErrorKind](): aWord,
	reflect.TypeFor[echo.GuardEvent](): aWord, reflect.TypeFor[echo.Strategy](): aWord, reflect.TypeFor[cascade.ToolType](): aWord,
	reflect.TypeFor[cascade.Check](): aWord, reflect.TypeFor[cascade.Backoff](): aWord, reflect.TypeFor[cascade.ContextMode](): aWord,
	reflect.TypeFor[cascade.Include](): aWord, reflect.TypeFor[cascade.MessagesFilter](): aWord, reflect.TypeFor[cascade.AnchorInclude](): aWord,
	reflect.TypeFor[cascade.SelectionStrategy](): aWord, reflect.TypeFor[cascade.Advance](): aWord, reflect.TypeFor[cascade.BudgetStrategy](): aWord,
	reflect.TypeFor[cascade.Recount](): aWord, reflect.TypeFor[cascade.Trigger](): aWord, reflect.TypeFor[cascade.ItemError](): aWord,
	reflect.TypeFor[cascade.OnExhausted](): aWord, reflect.TypeFor[cascade.WardMode](): aWord,
	reflect.TypeFor[echo.ChildKind](): aWord, reflect.TypeFor[echo.ChoiceHow](): aWord, reflect.TypeFor[echo.CandidateState](): aWord,
	reflect.TypeFor[soundings.ModelStrategy](): aWord, reflect.TypeFor[soundings.MutationMode](): aWord, reflect.TypeFor[soundings.Mode](): aWord,
	reflect.TypeFor[soundings.Evaluator](): aWord, reflect.TypeFor[soundings.OnTie](): aWord, reflect.TypeFor[soundings.Normalization](): aWord,
	reflect.TypeFor[soundings.Policy](): aWord, reflect.TypeFor[soundings.Presentation](): aWord, reflect.TypeFor[soundings.SelectionMode](): aWord,
	reflect.TypeFor[soundings.OnTimeout](): aWord,
	reflect.TypeFor[echo.ChooseMode]():     aWord, reflect.TypeFor[echo.GrantScope](): aWord, reflect.TypeFor[triggers.Type](): aWord, reflect.TypeFor[echo.WaitKind](): aWord, reflect.TypeFor[echo.FormKind](): aWord, reflect.TypeFor[echo.OnTimeout](): aWord, reflect.TypeFor[echo.Via](): aWord,
}

// structure are the members that stay, as PACKAGE.TYPE.member, by the reason.
var structure = map[string][]string{
	aName: {
		"cascade.AsyncCascade.name", "cascade.AsyncCascade.ref", "cascade.ForEach.as", "cascade.Phase.after", "cascade.SubCascade.name", "cascade.SubCascade.ref",
		"journal.Header.child_key", "journal.Header.child_of", "journal.Header.root", "library.Recorded.refs", "library.Volume.file", "library.Volume.refs",
		"settings.Anchors.from_phases", "cascade.Cascade.$schema", "cascade.Cascade.cascade_id", "cascade.Cascade.fallback_models", "cascade.Cascade.model",
		"cascade.Cascade.tags", "settings.ClearToolUses.exclude_tools", "cascade.Context.exclude", "settings.Guard.summarizer_model",
		"cascade.Handoff.target", "cascade.InlineValidator.model", "settings.InterContext.card_model", "settings.InterContext.selector_model",
		"settings.IntraContext.exclude_tools", "cascade.Phase.fallback_models", "cascade.Phase.model", "cascade.Phase.name", "cascade.Phase.routing",
		"cascade.Phase.tackle", "cascade.Phase.tool", "settings.Selection.selector_model", "settings.Summarizer.model", "cascade.Source.phase", "cascade.Tool.tool_id",
		"echo.Anchor.phase", "echo.CardsUsed.embedder", "echo.Entry.cascade_id", "echo.Entry.key", "echo.Entry.model", "echo.Entry.phase",
		"echo.Entry.provider", "echo.Entry.session_id", "echo.Fallback.from", "echo.Fallback.to", "echo.Handoff.cascade_id", "echo.Handoff.phase",
		"echo.Handoff.session_id", "echo.HandoffItem.source", "echo.HandoffProgress.notes", "echo.Menu.model", "echo.ModelCall.model", "echo.ModelFacts.fallback_models",
		"echo.ModelFacts.name", "echo.Pretend.model", "echo.Price.as", "echo.Selection.price_as", "echo.Route.from", "echo.Route.to", "echo.RunStart.work_dir", "echo.Score.phase", "echo.Similarity.embedder",
		"echo.ChildStart.cascade", "echo.ChildStart.file", "echo.ChildStart.name", "echo.ChildStart.session", "echo.ChildEnd.session",
		"echo.FoundCascade.file",
		"echo.Candidate.model", "sounding.Trial.rewrite_model", "echo.Ballot.judge", "echo.Ballot.labels", "soundings.Soundings.aggregator_model", "soundings.Soundings.evaluator_model", "soundings.Soundings.rewrite_model",
		"echo.State.key", "echo.ToolUse.call_id", "echo.ToolUse.name", "echo.Draft.tool", "echo.Draft.tool_call_id", "echo.ToolCall.id", "echo.ToolCall.name",
		"cascade.Rules.approve", "triggers.Trigger.name", "triggers.Trigger.secret_env", "triggers.Trigger.timezone", "triggers.Trigger.schedule", "people.Alternative.route", "people.Field.name", "people.DecisionPoints.routing", "echo.Form.actions", "echo.Field.name", "echo.AwaitedBy.tool", "echo.AwaitedCall.tool", "echo.Wait.signal", "echo.Wait.any", "echo.Answer.signal", "echo.Granted.id", "echo.Offered.label",
		"echo.Answer.by", "echo.Chooser.by", "echo.Chooser.labels", "echo.Answer.letter", "echo.Audible.letter", "echo.Audible.by", "echo.ViewChange.by", "echo.Spot.phase", "echo.Fired.letter", "echo.Fired.session", "echo.Fired.signal", "echo.Artifact.id", "echo.ArtifactsFound.keys", "echo.Image.sha256", "echo.MemoryCall.bank", "echo.BroughtMemo.session", "echo.ProjectFile.path", "echo.ProjectFile.hidden", "cascade.Cascade.memory", "cascade.Phase.memory",
		"echo.Part.name", "echo.Workspace.branch", "journal.Header.file", "journal.Header.parent", "journal.Header.script", "journal.Header.session_id", "journal.Header.windlass",
	},
	aWord: {
		"cascade.Source.as_role", "cascade.Tool.method", "echo.Anchor.why", "echo.Failure.kind", "echo.FileChange.change", "echo.ModelCall.finish_reason",
		"echo.PhaseContext.dialect", "echo.PhaseContext.strategy", "echo.Route.reason", "echo.Span.form", "echo.Span.reason", "echo.Summary.by",
		"echo.Handoff.status", "echo.PhaseEnd.status", "echo.RunEnd.status", "echo.ChildEnd.status", "echo.Mutation.mode", "echo.Verdict.mode", "echo.Verdict.ward",
		"echo.Artifact.kind", "settings.Amount.type", "echo.MemoryCall.command", "echo.MemoCall.tool", "echo.MemoVersion.scope", "echo.MemoSeen.scope", "echo.ViewChange.action", "echo.Image.type", "people.Field.type", "people.HumanInput.type", "people.HumanInput.on_timeout", "people.DecisionPoints.on_timeout", "people.DecisionPoints.trigger", "echo.Form.severity", "echo.Choose.presentation",
	},
	aHash:    {"echo.AwaitedCall.cascade", "echo.MemoryVersion.version", "echo.MemoryStart.project", "echo.MemoryCall.project", "echo.MemosStart.project", "echo.MemoCall.project", "echo.MemosBrought.project", "echo.MemoVersion.memo", "echo.MemoVersion.version", "echo.Candidate.species", "echo.Seed.seed", "echo.CardsUsed.cards_digest", "echo.ChildStart.hash", "echo.FoundCascade.hash", "echo.Entry.request_hash", "echo.Workspace.head"},
	aSetting: {"echo.PhaseContext.policy"},
	aProgram: {"cascade.Tool.response_jq"},
	inKeys:   {"cascade.Rules.loop_until", "validators.Ward.validator", "echo.Verdict.validator", "soundings.Soundings.validator", "soundings.Reforge.threshold"},
	inHashes: {"cascade.Phase.model_options"},
	ofTheRun: {"journal.Header.options"},
	ofPeople: {"journal.Redaction.reason"},
	elsewhere: {
		"echo.Entry.data", "echo.Failure.message", "echo.Part.text", "echo.Part.url", "echo.ToolCall.arguments", "echo.ToolUse.arguments",
		"echo.RunStart.header", "echo.RunStart.input", "journal.Header.cascade", "journal.Header.input", "journal.Header.library",
	},
}

func reasonOf(member string) string {
	for reason, members := range structure {
		if slices.Contains(members, member) {
			return reason
		}
	}
	return ""
}

// walker finds members that hold text, and notes which of the lists it has used.
type walker struct {
	unnamed []string
	used    map[string]bool
	places  map[*echo.ContentPlace]map[string]bool // members of places that types have
	seen    map[seen]bool
}

type seen struct {
	of reflect.Type
	at *echo.ContentPlace
}

func newWalker() *walker {
	return &walker{used: map[string]bool{}, places: map[*echo.ContentPlace]map[string]bool{}, seen: map[seen]bool{}}
}

// forms are the types that say themselves how they are written, as what they are written.
var forms = map[reflect.Type]reflect.Type{
	reflect.TypeFor[cascade.OnError]():      reflect.TypeFor[cascade.Phase](), // or the name of one
	reflect.TypeFor[cascade.InputsSchema](): reflect.TypeFor[json.RawMessage](),
	reflect.TypeFor[soundings.Models]():     reflect.TypeFor[int64](), // names of models, and settings
	reflect.TypeFor[cascade.Duration]():     reflect.TypeFor[int64](),
	reflect.TypeFor[time.Time]():            reflect.TypeFor[int64](),
	reflect.TypeFor[json.RawMessage]():      reflect.TypeFor[json.RawMessage](),
	reflect.TypeFor[echo.Message]():         reflect.TypeFor[echo.Draft](),
	reflect.TypeFor[echo.Key]():             reflect.TypeFor[string](),
	reflect.TypeFor[continuity.Memory]():    reflect.TypeFor[string](),
	reflect.TypeFor[echo.Status]():          reflect.TypeFor[string](),
}

// value walks a value of a type that is called name where it holds text.
func (w *walker) value(name string, t reflect.Type, at *echo.ContentPlace) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if form, ok := forms[t]; ok {
		t = form
	} else if t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) ||
		t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		w.unnamed = append(w.unnamed, fmt.Sprintf("%s: how a %s is written is not known here", name, t))
		return
	}
	if at != nil && (at.Is != echo.ContentNone || t == reflect.TypeFor[json.RawMessage]()) {
		return // all below is content, or the place says what of the JSON is
	}
	switch t.Kind() {
	case reflect.Struct:
		w.object(t, at)
	case reflect.Map:
		w.member(at, "*")
		w.value(name, t.Elem(), placeOf(at, "*"))
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 { // JSON, or bytes
			w.text(name, t)
			return
		}
		w.member(at, "*")
		w.value(name, t.Elem(), placeOf(at, "*"))
	case reflect.String, reflect.Interface:
		w.text(name, t)
	}
}

func placeOf(at *echo.ContentPlace, member string) *echo.ContentPlace {
	if at == nil {
		return nil
	}
	if m := at.Members[member]; m != nil {
		return m
	}
	return at.Members["*"]
}

func (w *walker) member(at *echo.ContentPlace, name string) {
	if at == nil {
		return
	}
	if w.places[at] == nil {
		w.places[at] = map[string]bool{}
	}
	w.places[at][name] = true
}

func (w *walker) text(name string, t reflect.Type) {
	w.used[name] = true
	if reasonOf(name) == "" && wordTypes[t] == "" {
		w.unnamed = append(w.unnamed, name)
	}
}

func (w *walker) object(t reflect.Type, at *echo.ContentPlace) {
	if w.seen[seen{t, at}] {
		return
	}
	w.seen[seen{t, at}] = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			w.object(f.Type, at)
		default:
			if name == "" {
				name = f.Name
			}
			w.member(at, name)
			w.value(t.String()+"."+name, f.Type, placeOf(at, name))
		}
	}
}

// payload is a type of what entries say, and what of it is content.
type payload struct {
	says echo.Payload
	at   *echo.ContentPlace
}

func payloads() []payload {
	node, value := func(n echo.NodeType) *echo.ContentPlace { return dataPlaces[n] }, func(s echo.StepKind) *echo.ContentPlace { return valuePlaces[s] }
	return []payload{
		{echo.RunStart{}, node(echo.NodeRunStart)},
		{echo.RunEnd{}, node(echo.NodeRunEnd)},
		{echo.PhaseStart{}, node(echo.NodePhaseStart)},
		{echo.PhaseEnd{}, node(echo.NodePhaseEnd)},
		{echo.Carry{}, node(echo.NodeSelection)},
		{echo.ModelCall{}, node(echo.NodeModelCall)},
		{echo.Verdict{}, node(echo.NodeVerdict)},
		{echo.Route{}, node(echo.NodeRoute)},
		{echo.State{}, node(echo.NodeState)},
		{echo.CalloutMark{}, node(echo.NodeCallout)},
		{echo.Resume{}, node(echo.NodeResume)},
		{echo.Handoff{}, node(echo.NodeHandoff)},
		{echo.Warning{}, node(echo.NodeWarning)},
		{echo.Guard{}, node(echo.NodeGuard)},
		{echo.InterSelection{}, node(echo.NodeInter)},
		{echo.Menu{}, node(echo.NodeMenu)},
		{echo.Clock(0), value(echo.StepClock)},
		{echo.BackgroundTotals{}, value(echo.StepBackground)},
		{echo.Idle{}, value(echo.StepIdle)},
		{echo.Similarity{}, value(echo.StepSimilarity)},
		{echo.ModelFacts{}, value(echo.StepFacts)},
		{echo.Findings{}, value(echo.StepCards)},
		{echo.Stopped{}, value(echo.StepStopped)},
		{echo.FoundCascade{}, value(echo.StepCascade)},
		{echo.ChildStart{}, node(echo.NodeChildStart)},
		{echo.ChildEnd{}, node(echo.NodeChildEnd)},
		{echo.Candidate{}, node(echo.NodeCandidate)},
		{echo.Seed{}, value(echo.StepSeed)},
		{echo.WinningRewrites{}, value(echo.StepWinners)},
		{echo.Room{}, value(echo.StepRoom)},
		{echo.Ballot{}, node(echo.NodeBallot)},
		{echo.Choice{}, node(echo.NodeChoice)},
		{echo.Wait{}, node(echo.NodeWait)},
		{echo.Answer{}, node(echo.NodeAnswer)},
		{echo.Fired{}, value(echo.StepFire)},
		{echo.Artifact{}, value(echo.StepArtifact)},
		{echo.ArtifactsFound{}, value(echo.StepFound)},
		{echo.Audible{}, value(echo.StepAudible)},
		{echo.ViewChange{}, value(echo.StepChange)},
		{echo.MemoryStart{}, value(echo.StepBank)},
		{echo.MemoryCall{}, value(echo.StepMemory)},
		{echo.MemosStart{}, value(echo.StepMemos)},
		{echo.MemoCall{}, value(echo.StepMemo)},
		{echo.MemosBrought{}, value(echo.StepBrought)},
		{echo.ProjectFile{}, value(echo.StepProject)},
	}
}

// TestEveryPayloadIsWalked: the list above has every type that entries can say.
func TestEveryPayloadIsWalked(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../echo/data*.go")
	require.NoError(t, err)
	var have, want []string
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "kind" && fn.Recv != nil {
				want = append(want, fmt.Sprint(fn.Recv.List[0].Type))
			}
		}
	}
	for _, p := range payloads() {
		have = append(have, reflect.TypeOf(p.says).Name())
	}
	require.ElementsMatch(t, want, have)
}

// TestEveryMemberIsNamed: each member of an entry, of a journal's header and of a cascade that can hold
// text is content, which a redaction takes out, or is said above to be none. Who adds one decides here.
func TestEveryMemberIsNamed(t *testing.T) {
	t.Parallel()
	w := newWalker()
	for _, p := range payloads() {
		w.value(reflect.TypeOf(p.says).Name(), reflect.TypeOf(p.says), p.at)
	}
	w.value("Entry", reflect.TypeFor[echo.Entry](), nil)
	w.value("Header", reflect.TypeFor[journal.Header](), nil)
	w.value("Cascade", reflect.TypeFor[cascade.Cascade](), cascadePlace)
	w.value("Library", reflect.TypeFor[library.Recorded](), libraryPlace)
	w.value("Trial", reflect.TypeFor[sounding.Trial](), trialPlace)
	slices.Sort(w.unnamed)
	require.Empty(t, w.unnamed, "name them in places.go if people or models write them, otherwise here with the reason")
	for _, names := range structure {
		for _, name := range names {
			require.True(t, w.used[name], "%s is in the list above, and is no member that can hold text and is not content", name)
		}
	}
	for at, has := range w.places {
		for name := range at.Members {
			require.True(t, has[name], "places.go names %q beside %v, and the type has no such member", name, slices.Sorted(maps.Keys(has)))
		}
	}
}

// TestNewMembersAreFound: the walk finds a member that was added, whatever its type.
func TestNewMembersAreFound(t *testing.T) {
	t.Parallel()
	type inner struct {
		Said string `json:"said"`
		N    int    `json:"n"`
	}
	type embedded struct {
		Words []string `json:"words"`
	}
	type added struct {
		embedded
		Note   string            `json:"note,omitempty"`
		Raw    json.RawMessage   `json:"raw"`
		Any    any               `json:"any"`
		Many   map[string]*inner `json:"many"`
		Known  string            `json:"known"`
		Hash   echo.Hash         `json:"hash"`
		Hidden string            `json:"-"`
		Plain  string
		Form   marshals `json:"form"`
	}
	w := newWalker()
	w.value("added", reflect.TypeFor[added](), object(map[string]*echo.ContentPlace{"known": aText}))
	require.Equal(t, []string{
		"redaction.embedded.words", "redaction.added.note", "redaction.added.raw", "redaction.added.any", "redaction.inner.said", "redaction.added.Plain",
	}, w.unnamed[:6])
	require.Equal(t, []string{"redaction.added.form: how a redaction.marshals is written is not known here"}, w.unnamed[6:])
}

type marshals struct{}

func (marshals) MarshalJSON() ([]byte, error) { return []byte(`"x"`), nil }
