package autocontext_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// world makes random histories, settings and answers. Everything follows from its seed.
type world struct {
	*rand.Rand
	more   *rand.Rand // what stands, and groups
	ids    int
	broken bool // histories may be damaged
	again  bool // every turn numbers its calls from 1
	own    bool // such calls are sent with ids of their own
}

func newWorld(seed uint64, broken bool) *world {
	return &world{Rand: rand.New(rand.NewPCG(seed, 7)), more: rand.New(rand.NewPCG(seed, 8)), broken: broken, again: seed%3 == 0, own: seed%4 < 2}
}

func (w *world) text(most int) string {
	words := []string{"alpha", "beta/gamma.go", "id_4711", "Error: no such file", "x", "日本語", "0.25", "the", "of", "src/main.c", "\"quoted\"", "a\\b"}
	var b strings.Builder
	for n := w.IntN(most + 1); b.Len() < n; {
		b.WriteString(words[w.IntN(len(words))])
		b.WriteByte(" \n"[w.IntN(2)])
	}
	return b.String()
}

func (w *world) size() int { return []int{0, 20, 180, 400, 3000, 9000}[w.IntN(6)] }

func (w *world) arguments() string {
	switch w.IntN(5) {
	case 0:
		return "{}"
	case 1:
		return `{"text": "` + strings.Repeat("long text with a name_1 in it ", w.IntN(60)) + `", "n": 12345678901234567890}`
	case 2:
		if w.broken {
			return "{not json " + w.text(900)
		}
	}
	return `{"path":"a/b.go","list":["` + strings.Repeat("z", w.IntN(900)) + `"]}`
}

func (w *world) call() echo.ToolCall {
	w.ids++
	c := echo.ToolCall{ID: fmt.Sprintf("call_%d", w.ids), Name: []string{"read_file", "bash", "keep"}[w.IntN(3)], Arguments: w.arguments()}
	if w.broken && w.IntN(20) == 0 {
		c.ID = []string{"", "call_1"}[w.IntN(2)]
	}
	return c
}

// turn is an assistant message with the results of its calls.
func (w *world) turn(attempt, turn int) []echo.Item {
	at := func(m *echo.Message) echo.Item {
		return echo.Item{Message: m, Attempt: attempt, Turn: turn, Pinned: w.IntN(40) == 0}
	}
	if w.again {
		w.ids = 0
	}
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer}
	if text := w.text(w.size()); text != "" {
		d.Parts = echo.Text(text)
	}
	for range w.IntN(4) {
		d.ToolCalls = append(d.ToolCalls, w.call())
	}
	items := []echo.Item{at(echo.Seal(d))}
	var results []echo.Item
	for _, c := range d.ToolCalls {
		if w.broken && w.IntN(15) == 0 {
			continue
		}
		parts := echo.Text(w.text(w.size()))
		if w.IntN(6) == 0 {
			parts = echo.Text(strings.Repeat("the same again a/b.go\n", 40)) // results that come again
		}
		if w.IntN(15) == 0 {
			parts = append(parts, echo.Part{Type: echo.PartImage, URL: "data:image/png;base64,AAAA"})
		}
		results = append(results, at(echo.NewToolResult(c, parts, w.IntN(5) == 0)))
		if w.broken && w.IntN(25) == 0 {
			results = append(results, at(echo.NewToolResult(echo.ToolCall{ID: "stray", Name: "bash"}, parts, false)))
		}
	}
	w.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	return append(items, results...)
}

func user(kind echo.Kind, text string, attempt, turn int) echo.Item {
	return echo.Item{Message: echo.NewText(echo.RoleUser, kind, text), Attempt: attempt, Turn: turn}
}

func foreignIf(is bool) echo.Foreign {
	if is {
		return echo.ForeignNoTools
	}
	return ""
}

// conversation is a history that grows call by call: calls[k] is its length before call k.
func (w *world) conversation(turns int) (items []echo.Item, calls []int) {
	if w.IntN(2) == 0 {
		items = append(items, echo.Item{Message: echo.NewText(echo.RoleSystem, echo.KindSystem, "system "+w.text(300))})
	}
	if w.IntN(4) == 0 {
		for _, it := range w.turn(0, 0) {
			it.Foreign = foreignIf(w.IntN(2) == 0 && len(items) < 2)
			items = append(items, it)
		}
		foreign := w.IntN(2) == 0
		for i := range items {
			items[i].Foreign = foreignIf(foreign)
		}
	}
	items = append(items, user(echo.KindTask, "task "+w.text(400), 0, 0))
	attempt, turn := 1, 0
	stands := w.more.IntN(2) == 0
	for range turns {
		turn++
		if stands && w.more.IntN(4) > 0 {
			items = append(items, user(echo.KindStateBlock, fmt.Sprint("state ", w.more.IntN(9)), attempt, turn), user(echo.KindScratchpad, fmt.Sprint("notes ", w.more.IntN(9)), attempt, turn))
		}
		calls = append(calls, len(items))
		items = append(items, w.turn(attempt, turn)...)
		switch w.IntN(8) {
		case 0:
			attempt, turn = attempt+1, 0
			items = append(items, user(echo.KindRetry, "Your answer was not accepted: "+w.text(100), attempt, 0))
		case 1:
			items = append(items, user(echo.KindTurnPrompt, "go on "+w.text(200), attempt, turn))
		case 2:
			items = append(items, user(echo.KindNotice, "notice", attempt, turn))
		case 3:
			items = append(items, user(echo.KindAudible, "said "+w.text(100), attempt, turn))
		case 4:
			items = append(items, user(echo.KindRetract, "taken back "+w.text(100), attempt, turn))
		}
		if w.broken && w.IntN(12) == 0 { // a result that came late
			items = append(items, echo.Item{Message: echo.NewToolResult(echo.ToolCall{ID: fmt.Sprintf("call_%d", w.ids), Name: "bash"}, echo.Text("late"), false), Attempt: attempt, Turn: turn})
		}
	}
	return items, calls
}

func (w *world) settings() autocontext.Settings {
	p := cascade.DefaultIntra()
	p.Enabled = w.IntN(5) > 0
	p.Window, p.MaskAfter, p.MinMaskedSize = w.IntN(7), 1+w.IntN(5), []int{0, 50, 200}[w.IntN(3)]
	p.Advance = []cascade.Advance{cascade.AdvanceCost, cascade.AdvanceCost, cascade.AdvanceEveryTurn, cascade.AdvanceStep}[w.IntN(4)]
	p.StepTurns = 1 + w.IntN(5)
	p.PreserveReasoning, p.PreserveErrors, p.ReasoningLimit = w.IntN(3) > 0, w.IntN(3) > 0, 50+w.IntN(500)
	p.CompressLoops, p.LoopHistoryLimit, p.LoopOutputLimit = w.IntN(3) > 0, w.IntN(4), w.IntN(400)
	if w.IntN(3) == 0 {
		p.ExcludeTools = []string{"keep"}
	}
	if w.IntN(3) == 0 {
		p.Truncation = &cascade.IntraTruncation{RecentResults: 1 + w.IntN(4), RecentLimit: 2000, OlderLimit: 500, InactiveLimit: 100}
	}
	if w.IntN(4) == 0 {
		p.ClearToolUses = &cascade.IntraClear{TriggerTokens: 2000, Keep: w.IntN(4), ClearAtLeastTokens: int64(w.IntN(500))}
	}
	p.Guard.KeepRecentMessages = w.IntN(12)
	if w.IntN(4) == 0 {
		p.Guard.Recount = cascade.RecountProbe
	}
	s := autocontext.Settings{FailuresInText: w.IntN(2) == 0, OwnIDs: w.own, Policy: p, Dialect: dialect.Dialect(w.IntN(2)), Fixed: int64(w.IntN(200))}
	s.Groups = max(w.more.IntN(8)-3, 0)
	if w.IntN(3) > 0 {
		in := 0.1 + w.Float64()*10
		s.Price = &echo.Price{Input: in, Cached: in * []float64{0, 0.1, 0.5, 1}[w.IntN(4)]}
	}
	if w.IntN(2) == 0 {
		s.Limit = int64(2000 + w.IntN(20000))
		s.Strategy = []cascade.BudgetStrategy{"", cascade.BudgetSummarize, cascade.BudgetPruneOldest, cascade.BudgetSlidingWindow, cascade.BudgetFail}[w.IntN(5)]
	}
	if w.IntN(2) == 0 {
		s.Count = func(m *echo.Message) int64 { return int64(len(m.JSON()))/3 + 1 }
		s.Exact = w.IntN(2) == 0
	}
	return s
}

func (w *world) answer(a *autocontext.Ask) autocontext.Answer {
	switch {
	case w.IntN(3) == 0:
		return autocontext.Answer{Failed: true}
	case a.Kind == autocontext.AskRecount:
		var n int64
		for _, m := range a.Messages {
			n += int64(len(m.JSON()))/4 + 1
		}
		return autocontext.Answer{Tokens: n}
	}
	return autocontext.Answer{Text: "Goals: " + w.text(20000)}
}
