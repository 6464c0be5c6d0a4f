package clickhouse_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/echo/record"
)

// talking is the visit of the random sessions whose model has no tool calling.
const talking = "talking"

// inWords is a message as the visit of a key sends it.
func inWords(key echo.Key, m *echo.Message) *echo.Message {
	told := dialect.Native
	if key.VisitKey() == echo.PhaseKey(talking, 1) {
		told = dialect.Prompted
	}
	view := &autocontext.View{Items: []autocontext.Item{{Message: m, Form: autocontext.FormFull, Sent: m}}}
	return autocontext.NewRenderer(told).Render(view)[0]
}

// randomVisit is a visit of a random session: what is in its history, and what became of that in
// the newest call.
type randomVisit struct {
	name    string
	history []*echo.Entry
	sent    []record.Sent
	tools   int
	calls   int
}

// randomSession returns entries in which each part is there or not, and the rows that its
// selections must have.
func randomSession(seed uint64, session string, n int) (entries []*echo.Entry, selections []storedSelection) {
	r := rand.New(rand.NewPCG(seed, 1))
	visits := []*randomVisit{{name: "a"}, {name: "a~2"}, {name: talking}}
	for len(entries) < n {
		e := randomEntry(r, session, uint64(len(entries)+1))
		v := visits[r.IntN(len(visits))]
		if len(entries) == 0 {
			e.NodeType, e.Key, e.Message, e.ContentHash = echo.NodePhaseStart, echo.MustKey(talking+"/start"), nil, ""
			e.Data = json.RawMessage(`{"visit":1,"context":{"dialect":"prompted"}}`)
		} else if v.place(r, e); e.NodeType == echo.NodeSelection {
			selections = append(selections, v.selection(r, e))
		}
		entries = append(entries, placed(e))
	}
	return entries, selections
}

func entriesOf(seed uint64, session string, n int) []*echo.Entry {
	entries, _ := randomSession(seed, session, n)
	return entries
}

// randomEntry returns an entry without a place.
func randomEntry(r *rand.Rand, session string, seq uint64) *echo.Entry {
	types := []echo.NodeType{echo.NodeMessage, echo.NodeModelCall, echo.NodeToolCall, echo.NodeSelection, echo.NodeState}
	e := &echo.Entry{
		SessionID: session, Seq: seq, At: time.UnixMicro(1_700_000_000_000_000 + r.Int64N(5e13)).UTC(),
		NodeType: types[r.IntN(len(types))], CascadeID: randomText(r), Model: randomText(r), Provider: randomText(r),
		Scripted: r.IntN(2) == 0, DurationMS: r.Float64() * 1e5, RequestHash: randomText(r),
	}
	maybe := func(set func()) {
		if r.IntN(2) == 0 {
			set()
		}
	}
	maybe(func() { e.Message = randomMessage(r); e.ContentHash = e.Message.Hash() })
	maybe(func() {
		e.Usage = &echo.Usage{In: r.Int64(), Cached: r.Int64(), Out: 1, Reasoning: -1, Estimated: true}
	})
	maybe(func() { c := r.NormFloat64(); e.CostUSD = &c })
	maybe(func() { zero := 0.0; e.CostUSD = &zero })
	maybe(func() { e.Pretend = &echo.Pretend{Model: "m", USD: r.NormFloat64()} })
	maybe(func() {
		e.Tool = &echo.ToolUse{Name: randomText(r), CallID: randomText(r), Arguments: randomText(r)}
		if e.Message != nil { // the message answers the call
			e.Tool.Name, e.Tool.CallID = e.Message.Tool(), e.Message.ToolCallID()
		}
	})
	maybe(func() { e.Error = &echo.Failure{Kind: "timeout", Message: randomText(r)} })
	maybe(func() { e.Data, _ = json.Marshal(map[string]string{"value": randomText(r)}) })
	return e
}

// place gives an entry its key, and lets its message enter the history if it belongs there.
func (v *randomVisit) place(r *rand.Rand, e *echo.Entry) {
	turn := fmt.Sprintf("%s/attempt1/turn%d/", v.name, max(v.calls, 1))
	enters := e.Message != nil
	switch e.NodeType {
	case echo.NodeMessage:
		e.Key = echo.MustKey(v.name + "/task")
	case echo.NodeModelCall:
		e.Key = echo.MustKey(turn + "model")
		if r.IntN(4) == 0 {
			e.Key, enters = echo.MustKey(turn+"validate/fair/model"), false
		}
	case echo.NodeToolCall:
		v.tools++ // ever larger, so that the order of the calls is that of the entries
		e.Key = echo.MustKey(fmt.Sprintf("%stool%d", turn, v.tools))
	case echo.NodeSelection:
		v.calls++
		e.Key, enters = echo.MustKey(fmt.Sprintf("%s/attempt1/turn%d/context", v.name, v.calls)), false
		e.Message, e.ContentHash = nil, ""
	default:
		e.Key, enters = echo.PhaseKey(v.name, 1).Named(echo.StepState, randomText(r)), false
	}
	if enters {
		v.history = append(v.history, e)
	}
}

// selection fills in a random selection and returns its row.
func (v *randomVisit) selection(r *rand.Rand, e *echo.Entry) storedSelection {
	var changed []int
	for i, h := range v.history {
		if i < len(v.sent) && r.IntN(6) > 0 {
			continue
		}
		s := record.Sent{Hash: h.Message.Hash(), Form: "full", Reason: randomText(r), Tokens: r.Int64(), Full: true}
		switch r.IntN(3) {
		case 0:
			s.Form, s.Full, s.As = "masked", false, []*echo.Message{randomMessage(r)}
		case 1:
			s.Form, s.Full, s.As = "dropped", false, slices.Repeat([]*echo.Message{randomMessage(r)}, r.IntN(3))
		}
		if changed = append(changed, i); i < len(v.sent) {
			v.sent[i] = s
		} else {
			v.sent = append(v.sent, s)
		}
	}
	delta := v.calls > 1
	if !delta || r.IntN(10) == 0 {
		delta, changed = false, nil
		for i := range v.sent {
			changed = append(changed, i)
		}
	}
	sel := &echo.Selection{
		FullHistorySize: r.Int64(), ContextSize: 7, TokensSaved: -3, MessageCount: 4, MaskedCount: 2, SharedSize: r.Int64(),
		FullSharedSize: 11, RequestSize: r.Int64(), Limit: 13, Delta: delta,
	}
	if r.IntN(2) == 0 {
		sent, full := r.Float64(), 0.0
		sel.SentUSD, sel.FullUSD = &sent, &full
		sel.PriceAs = []string{"", "m"}[r.IntN(2)]
	}
	for _, i := range changed {
		s := v.sent[i]
		sp := echo.Span{From: i, Count: 1, Form: s.Form, Reason: s.Reason, Hashes: []echo.Hash{s.Hash}, Tokens: []int64{s.Tokens}}
		if !s.Full {
			sp.Sent = [][]*echo.Message{s.As}
		}
		sel.Spans = append(sel.Spans, sp)
	}
	e.Selection = sel
	return v.row(e)
}

// placed sets what a log sets of the key.
func placed(e *echo.Entry) *echo.Entry {
	e.SetKeyFields()
	return e
}

// row says what must be stored of a selection, without the code that stores it.
func (v *randomVisit) row(e *echo.Entry) storedSelection {
	sel := e.Selection
	s := storedSelection{
		SessionID: e.SessionID, Seq: e.Seq, At: e.At, Model: e.Model, Dialect: "native",
		StoredPlace: placeOf(e.CascadeID, e.Key.ModelKey()),
		MessageSeq:  []uint64{}, Hash: []string{}, Form: []string{}, Reason: []string{}, Tokens: []int64{}, SentJSON: []string{},
		FullHistorySize: sel.FullHistorySize, ContextSize: sel.ContextSize, TokensSaved: sel.TokensSaved,
		MessageCount: int64(sel.MessageCount), MaskedCount: int64(sel.MaskedCount), SharedSize: sel.SharedSize,
		FullSharedSize: sel.FullSharedSize, SentUSD: sel.SentUSD, FullUSD: sel.FullUSD, RequestSize: sel.RequestSize, RequestLimit: sel.Limit,
		SelectionType: "intra_phase", AnchorHashes: []string{}, SelectedHashes: []string{},
	}
	if s.PriceAs = sel.PriceAs; s.PriceAs != "" {
		s.PretendSentUSD, s.PretendFullUSD, s.SentUSD, s.FullUSD = sel.SentUSD, sel.FullUSD, nil, nil
	}
	if v.name == talking {
		s.Dialect, s.Strategy = "prompted", "full"
	}
	for i, sent := range v.sent {
		text := ""
		if !sent.Full {
			var parts []string
			for _, m := range sent.As {
				parts = append(parts, string(inWords(e.Key, m).JSON()))
			}
			text = "[" + strings.Join(parts, ",") + "]"
		}
		s.MessageSeq, s.Hash = append(s.MessageSeq, v.history[i].Seq), append(s.Hash, string(sent.Hash))
		s.Form, s.Reason = append(s.Form, sent.Form), append(s.Reason, sent.Reason)
		s.Tokens, s.SentJSON = append(s.Tokens, sent.Tokens), append(s.SentJSON, text)
	}
	return s
}
