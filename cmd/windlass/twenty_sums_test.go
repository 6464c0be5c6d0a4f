//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// account is the figures of a session. Money is nil when there are calls and no cost is known.
type account struct {
	id, status                          string
	phases, tools                       int
	calls, embeddings, failed, scripted int
	unknown, unpriced                   int
	in, cached, out, reasoning          int64
	usd                                 *float64
	cards, cardEmbeddings               int
	cardsIn                             int64
	cardsUSD                            *float64

	// Of what calls of phases were sent that were answered.
	answered             int
	full, sent           int64
	fullUSD, sentUSD     *float64
	savedUSD, contextUSD *float64
	guard                int
	guardUSD             *float64

	between between
	copied  copies
}

// between is what came into phases of earlier ones, by the calls that were answered; after is how
// many of the selections go on from calls that were copied.
type between struct {
	selections, calls, unpriced, after int
	full, sent                         int64
	usd                                *float64
	lines                              []string // that the last process of the run prints
}

// copies are what a fork has of the session that it comes from.
type copies struct {
	from           string
	upto           uint64
	calls, unknown int
	asked          int // of those, in phases
	usd            *float64
}

// money adds up amounts some of which are unknown.
type money struct {
	sum        float64
	all, known int
}

func (m *money) add(usd *float64) {
	m.all++
	if usd != nil {
		m.known++
		m.sum += *usd
	}
}

func (m *money) total() *float64 {
	if m.all > 0 && m.known == 0 {
		return nil
	}
	return &m.sum
}

// sumsOf adds up a journal in the plainest way.
func sumsOf(entries []*echo.Entry) *account {
	s := &account{id: entries[0].SessionID, status: "unfinished", copied: copiesOf(entries)}
	var all, cards, guard, context, full, sent, saved money
	answers, visits := map[echo.Key]*echo.Entry{}, map[echo.Key]bool{}
	for _, e := range entries {
		switch e.NodeType {
		case echo.NodePhaseStart:
			visits[e.Key] = true
			continue
		case echo.NodeModelCall:
			answers[e.Key] = e
		}
		if e.Seq <= s.copied.upto {
			continue
		}
		switch e.NodeType {
		case echo.NodeToolCall:
			s.tools++
		case echo.NodeModelCall:
			all.add(e.CostUSD)
			s.call(e)
			if strings.HasPrefix(e.Key.String(), "cards/") {
				cards.add(e.CostUSD)
			}
			if strings.Contains(e.Key.String(), "/compact") || strings.Contains(e.Key.String(), "/recount") {
				s.guard++
				guard.add(e.CostUSD)
			}
		case echo.NodeRunEnd:
			d, _ := echo.Read[echo.RunEnd](e)
			s.status = d.Status.String()
		case echo.NodeResume:
			s.status = "unfinished"
		}
	}
	for _, e := range entries {
		a := answers[e.Key.ModelKey()]
		if e.NodeType != echo.NodeSelection || a == nil {
			continue
		}
		if a.Seq <= s.copied.upto {
			s.copied.asked++
			continue
		}
		if a.Error != nil {
			continue
		}
		s.answered++
		s.full, s.sent = s.full+e.Selection.FullHistorySize, s.sent+e.Selection.ContextSize
		full.add(e.Selection.FullUSD)
		sent.add(e.Selection.SentUSD)
		context.add(a.CostUSD)
		if e.Selection.FullUSD == nil {
			s.unpriced++
			saved.add(nil)
			continue
		}
		d := *e.Selection.FullUSD - *e.Selection.SentUSD
		saved.add(&d)
	}
	s.phases, s.usd, s.cardsUSD, s.guardUSD = len(visits), all.total(), cards.total(), guard.total()
	s.fullUSD, s.sentUSD, s.savedUSD, s.contextUSD = full.total(), sent.total(), saved.total(), context.total()
	s.sumBetween(entries, answers)
	return s
}

func copiesOf(entries []*echo.Entry) copies {
	var c copies
	var usd money
	d, _ := echo.Read[echo.RunStart](entries[0])
	var h journal.Header
	if json.Unmarshal(d.Header, &h) == nil {
		c.from, c.upto = h.Parent, h.ParentSeq
	}
	for _, e := range entries {
		if e.NodeType == echo.NodeModelCall && e.Seq <= c.upto {
			c.calls++
			usd.add(e.CostUSD)
		}
	}
	c.unknown = usd.all - usd.known
	if c.usd = usd.total(); c.from == "" {
		c.usd = nil
	}
	return c
}

// sumBetween adds up what came into phases: it was sent with each call that was answered, the first
// time at the full price.
func (s *account) sumBetween(entries []*echo.Entry, answers map[echo.Key]*echo.Entry) {
	var usd money
	prices, once := map[echo.Key]*echo.Price{}, map[echo.Key]bool{}
	for _, e := range entries {
		if e.NodeType == echo.NodePhaseStart {
			if d, _ := echo.Read[echo.PhaseStart](e); d.Context != nil {
				prices[e.Key.VisitKey()] = d.Context.Price
			}
		}
	}
	for _, e := range entries {
		if e.NodeType == echo.NodeResume {
			s.between.lines = nil
		}
		d, err := echo.Read[echo.InterSelection](e)
		if err != nil {
			continue
		}
		if once[e.Key] {
			panic("two selections for a visit: add up the newer")
		}
		once[e.Key] = true
		if e.Seq > s.copied.upto {
			s.between.lines = append(s.between.lines, fmt.Sprintf("%s of %s tokens", term.Count(d.Sent()), term.Count(d.Everything)))
		}
		var own, before int64
		for _, c := range entries {
			if a := answers[c.Key.ModelKey()]; c.NodeType != echo.NodeSelection || c.Key.VisitKey() != e.Key.VisitKey() || a == nil || a.Error != nil {
				continue
			} else if a.Seq <= s.copied.upto {
				before++
			} else {
				own++
			}
		}
		if own == 0 {
			continue
		}
		b := &s.between
		b.selections, b.calls, b.full, b.sent = b.selections+1, b.calls+int(own), b.full+own*d.Everything, b.sent+own*d.Sent()
		if before > 0 {
			b.after++
		}
		price := prices[e.Key.VisitKey()]
		if price == nil {
			b.unpriced++
			usd.add(nil)
			continue
		}
		v := 0.0
		for n := range own {
			per := price.Cached
			if n+before == 0 {
				per = price.Input
			}
			v += float64(d.Everything-d.Sent()) * per / 1e6
		}
		usd.add(&v)
	}
	s.between.usd = usd.total()
}

func (s *account) call(e *echo.Entry) {
	embeds, card := strings.HasPrefix(e.Key.String(), "cards/embed"), strings.HasPrefix(e.Key.String(), "cards/")
	count := func(yes bool, into *int) {
		if yes {
			*into++
		}
	}
	count(!embeds, &s.calls)
	count(embeds, &s.embeddings)
	count(card && !embeds, &s.cards)
	count(card && embeds, &s.cardEmbeddings)
	count(e.Error != nil, &s.failed)
	count(e.Scripted, &s.scripted)
	count(e.CostUSD == nil, &s.unknown)
	if u := e.Usage; u != nil {
		s.in, s.cached, s.out, s.reasoning = s.in+u.In, s.cached+u.Cached, s.out+u.Out, s.reasoning+u.Reasoning
		if card {
			s.cardsIn += u.In
		}
	}
}

// costs are the figures that reports of sessions and costs have, by their names in JSON.
func (s *account) costs() map[string]any {
	return map[string]any{
		"calls": s.calls, "embedding_calls": s.embeddings, "failed_calls": s.failed, "scripted_calls": s.scripted, "unknown_cost_calls": s.unknown,
		"tokens_in": s.in, "tokens_cached": s.cached, "tokens_out": s.out, "tokens_reasoning": s.reasoning, "cost_usd": s.usd,
		"phases": s.phases, "tool_calls": s.tools,
		"copied_calls": s.copied.calls, "copied_unknown_cost_calls": s.copied.unknown, "copied_cost_usd": s.copied.usd,
	}
}

// savings are the figures that the view of savings has.
func (s *account) savings() map[string]any {
	return map[string]any{
		"calls": s.answered, "unpriced_calls": s.unpriced, "full_tokens": s.full, "sent_tokens": s.sent, "saved_tokens": s.full - s.sent,
		"full_usd": s.fullUSD, "sent_usd": s.sentUSD, "saved_usd": s.savedUSD, "guard_calls": s.guard, "guard_usd": s.guardUSD, "cost_usd": s.contextUSD,
		"selections": s.between.selections, "unpriced_selections": s.between.unpriced, "selection_full_tokens": s.between.full,
		"selection_sent_tokens": s.between.sent, "selection_saved_tokens": s.between.full - s.between.sent, "selection_saved_usd": s.between.usd,
	}
}

// selections are the figures of the statistics of what came into phases.
func (s *account) selections() map[string]any {
	b := s.between
	return map[string]any{
		"selections": b.selections, "calls": b.calls, "full_tokens": b.full, "sent_tokens": b.sent, "saved_tokens": b.full - b.sent,
		"saved_usd": b.usd, "unpriced_selections": b.unpriced,
	}
}

// requireFigures holds the figures of a row against those wanted. All that the row must have are
// named; of others those count that are wanted.
func requireFigures(t *testing.T, where string, want, row map[string]any, must ...string) {
	t.Helper()
	for _, name := range must {
		require.Contains(t, row, name, where)
	}
	for name, v := range want {
		got, ok := row[name]
		if !ok {
			continue
		}
		if usd, ok := v.(*float64); ok && usd == nil {
			require.Nil(t, got, "%s: %s", where, name)
			continue
		} else if ok {
			require.NotNil(t, got, "%s: %s", where, name)
			require.InDelta(t, *usd, got, 1e-9, "%s: %s", where, name)
			continue
		}
		require.Equal(t, fmt.Sprint(v), fmt.Sprintf("%.0f", got), "%s: %s", where, name)
	}
}

var endLine = regexp.MustCompile(`(?m)^\S.* in \S+: (\d+) phases?, (\d+) model calls?(?:, (\d+) embedding requests?)?  in ([\d,]+)  cached ([\d,]+)  out ([\d,]+)  (.*?)(  \(scripted.*)?$`)

// requireEnd holds what a run says at its end: the text and the JSON.
func requireEnd(t *testing.T, s *account, p *process) {
	t.Helper()
	embeddings := ""
	if s.embeddings > 0 {
		embeddings = fmt.Sprint(s.embeddings)
	}
	m := endLine.FindStringSubmatch(p.err.String())
	require.NotNil(t, m, "%s: %s", s.id, p.err.String())
	require.Equal(t, []string{
		fmt.Sprint(s.phases), fmt.Sprint(s.calls), embeddings, term.Count(s.in), term.Count(s.cached), term.Count(s.out), quantity.Cost(s.usd, s.unknown),
	}, m[1:8], s.id)
	require.Equal(t, s.scripted > 0, m[8] != "", s.id)
	if s.sent < s.full {
		require.Contains(t, p.err.String(), fmt.Sprintf("Context: sent %s of %s tokens of history (%s less, estimated)",
			term.Count(s.sent), term.Count(s.full), term.Share(s.full-s.sent, s.full)), s.id)
	} else {
		require.NotContains(t, p.err.String(), "Context: sent ", s.id)
	}
	for _, line := range s.between.lines {
		require.Contains(t, p.err.String(), line, s.id)
	}
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &out))
	requireCopied(t, s, p, out)
	requireFigures(t, s.id+" --json", map[string]any{
		"model_calls": s.calls, "embedding_calls": s.embeddings, "failed_calls": s.failed, "unknown_costs": s.unknown, "cost_usd": s.usd,
	}, out, "model_calls", "embedding_calls", "failed_calls", "unknown_costs", "cost_usd")
	used := out["usage"].(map[string]any)
	requireFigures(t, s.id+" usage", map[string]any{"in": s.in, "out": s.out, "cached": s.cached, "reasoning": s.reasoning}, used, "in", "out")
	require.Len(t, out["phases"], s.phases)
	requirePhases(t, s, out)
}

// requireCopied holds what the end of a fork says of what it has copied.
func requireCopied(t *testing.T, s *account, p *process, out map[string]any) {
	t.Helper()
	copied, ok := out["copied"].(map[string]any)
	require.Equal(t, s.copied.from != "", ok, s.id)
	if !ok {
		require.NotContains(t, p.err.String(), "Copied from", s.id)
		return
	}
	require.Regexp(t, fmt.Sprintf(`(?m)^Copied from %s: .*, %s, not counted$`, s.copied.from, regexp.QuoteMeta(quantity.Cost(s.copied.usd, s.copied.unknown))), p.err.String(), s.id)
	require.Equal(t, s.copied.from, copied["forked_from"])
	requireFigures(t, s.id+" copied", map[string]any{"cost_usd": s.copied.usd, "unknown_costs": s.copied.unknown}, copied, "cost_usd", "unknown_costs")
	require.InDelta(t, s.copied.calls, copied["model_calls"].(float64)+copied["embedding_calls"].(float64), 0)
}

// requirePhases demands that the figures of the phases and those of the cards make up those of the
// run.
func requirePhases(t *testing.T, s *account, out map[string]any) {
	t.Helper()
	total := map[string]float64{}
	parts := out["phases"].([]any)
	cards, _ := out["cards"].(map[string]any)
	require.Equal(t, s.cards+s.cardEmbeddings > 0, cards != nil)
	if cards != nil {
		parts = append(parts, cards)
		requireFigures(t, s.id+" cards", map[string]any{"model_calls": s.cards, "embedding_calls": s.cardEmbeddings, "cost_usd": s.cardsUSD}, cards,
			"model_calls", "embedding_calls", "cost_usd")
		require.InDelta(t, s.cardsIn, cards["usage"].(map[string]any)["in"], 0)
	}
	for _, p := range parts {
		part := p.(map[string]any)
		for _, name := range []string{"model_calls", "embedding_calls", "failed_calls", "unknown_costs", "cost_usd"} {
			v, _ := part[name].(float64) // null: no cost is known
			total[name] += v
		}
		in, _ := part["usage"].(map[string]any)["in"].(float64)
		total["in"] += in
	}
	known := 0.0
	if s.usd != nil {
		known = *s.usd
	}
	require.InDelta(t, known, total["cost_usd"], 1e-9, s.id)
	require.Equal(t, []float64{float64(s.calls), float64(s.embeddings), float64(s.failed), float64(s.unknown), float64(s.in)},
		[]float64{total["model_calls"], total["embedding_calls"], total["failed_calls"], total["unknown_costs"], total["in"]}, s.id)
}

// rows runs a command that prints an array, and returns its objects by a member.
func (l *lab) rows(by string, args ...string) map[string]map[string]any {
	l.t.Helper()
	var list []map[string]any
	require.NoError(l.t, json.Unmarshal([]byte(l.run(exitOK, args...).out.String()), &list))
	out := map[string]map[string]any{}
	for _, row := range list {
		out[fmt.Sprint(row[by])] = row
	}
	require.Len(l.t, out, len(list), "each once")
	return out
}

var (
	costFigures = []string{
		"calls", "embedding_calls", "failed_calls", "scripted_calls", "unknown_cost_calls", "tokens_in", "tokens_cached", "tokens_out", "tokens_reasoning", "cost_usd",
	}
	sessionFigures = []string{
		"calls", "embedding_calls", "scripted_calls", "unknown_cost_calls", "tokens_in", "tokens_cached", "tokens_out", "cost_usd", "phases", "tool_calls",
	}
)

// requireReports holds the commands and SQL against the sums. here: the journals are there.
func (l *lab) requireReports(want map[string]*account, here bool) {
	l.t.Helper()
	list := l.rows("session_id", "sessions", "list", "--limit", "0", "--json")
	stored := l.rows("session_id", "sql", "--json", "SELECT * FROM sessions")
	bySession := l.rows("session_id", "cost", "--by", "session", "--json")
	byView := l.rows("session_id", "sql", "--json", "SELECT * FROM cost_by_session")
	byCall := l.rows("session_id", "sql", "--json", `SELECT session_id, countIf(effect != 'embed') AS calls, countIf(effect = 'embed') AS embedding_calls,
		sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out, sumOrNull(cost_usd) AS cost_usd FROM model_calls WHERE NOT copied GROUP BY session_id`)
	saved := l.rows("session_id", "sql", "--json", "SELECT * FROM savings_by_session")
	require.Len(l.t, list, len(want))
	require.Len(l.t, stored, len(want))
	for id, s := range want {
		requireFigures(l.t, "sessions list: "+id, s.costs(), list[id], sessionFigures...)
		requireFigures(l.t, "sessions: "+id, s.costs(), stored[id], append(sessionFigures, "copied_calls", "copied_cost_usd")...)
		require.Equal(l.t, s.copied.from, stored[id]["forked_from"], id)
		if s.copied.from != "" {
			require.Contains(l.t, l.run(exitOK, "sessions", "show", id).out.String(), fmt.Sprintf("\ncopied    from %s: %s, %s, not counted\n", s.copied.from,
				term.Plural(s.copied.calls, "call"), term.Cost(s.copied.usd, uint64(s.copied.calls), uint64(s.copied.unknown))))
			require.Equal(l.t, s.copied.from, list[id]["forked_from"], id)
			requireFigures(l.t, "sessions list, copied: "+id, s.costs(), list[id], "copied_calls", "copied_cost_usd")
		}
		require.Equal(l.t, s.status, stored[id]["status"], id)
		status := s.status
		if status == "unfinished" && here {
			status = "killed"
		}
		require.Equal(l.t, status, list[id]["status"], id)
		var shown map[string]any
		require.NoError(l.t, json.Unmarshal([]byte(l.run(exitOK, "sessions", "show", id, "--json").out.String()), &shown))
		requireFigures(l.t, "sessions show: "+id, s.costs(), shown, sessionFigures...)
		require.Equal(l.t, status, shown["status"], id)
		l.requireStats(s, saved[id])
		if s.calls+s.embeddings > 0 { // a session without has no costs
			requireFigures(l.t, "cost: "+id, s.costs(), bySession[id], costFigures...)
			requireFigures(l.t, "cost_by_session: "+id, s.costs(), byView[id], costFigures...)
			requireFigures(l.t, "model_calls: "+id, s.costs(), byCall[id], "calls", "embedding_calls", "tokens_in", "tokens_out", "cost_usd")
		} else {
			require.NotContains(l.t, bySession, id)
		}
	}
	l.requireTotals(want)
}

// requireStats holds the statistics of a session, and its row of savings, against the sums.
func (l *lab) requireStats(s *account, row map[string]any) {
	l.t.Helper()
	if s.answered+s.guard > 0 {
		requireFigures(l.t, "savings_by_session: "+s.id, s.savings(), row, "calls", "guard_calls", "guard_usd", "saved_usd", "saved_tokens", "cost_usd",
			"selections", "unpriced_selections", "selection_full_tokens", "selection_sent_tokens", "selection_saved_tokens", "selection_saved_usd")
	}
	var stats struct{ Total map[string]any }
	if s.answered == 0 { // a session of which no call is known has no statistics
		return
	}
	require.NoError(l.t, json.Unmarshal([]byte(l.run(exitOK, "context", "stats", s.id, "--json").out.String()), &stats))
	requireFigures(l.t, "context stats: "+s.id, s.savings(), stats.Total, "calls", "saved_tokens", "saved_usd", "full_tokens", "sent_usd", "cost_usd")
	if s.copied.asked > 0 {
		require.Equal(l.t, []any{float64(s.copied.asked), s.copied.from}, []any{stats.Total["copied_calls"], stats.Total["forked_from"]}, s.id)
		require.Contains(l.t, l.run(exitOK, "context", "stats", s.id).out.String(),
			fmt.Sprintf("%s of session %s, which paid for them, in no sum\n", term.Plural(s.copied.asked, "call"), s.copied.from))
	} else {
		require.NotContains(l.t, stats.Total, "copied_calls", s.id)
	}
	requireFigures(l.t, "between of context stats: "+s.id, s.selections(), stats.Total["between_phases"].(map[string]any),
		"selections", "calls", "full_tokens", "sent_tokens", "saved_tokens", "saved_usd", "unpriced_selections")
	requireFigures(l.t, "guard of context stats: "+s.id, map[string]any{"calls": s.guard, "cost_usd": s.guardUSD}, stats.Total["guard"].(map[string]any), "calls", "cost_usd")
	for _, name := range []string{"cached_estimated", "cached_reported"} {
		if stats.Total[name] == nil {
			require.Nil(l.t, row[name], s.id)
			continue
		}
		require.InDelta(l.t, stats.Total[name], row[name], 1e-9, s.id)
	}
}

// requireTotals demands that every report of costs, and every view of savings, comes to the same
// over all sessions.
func (l *lab) requireTotals(want map[string]*account) {
	l.t.Helper()
	var all, saved account
	var usd, savedUSD, guardUSD float64
	for _, s := range want {
		all.calls, all.embeddings, all.in, all.unknown = all.calls+s.calls, all.embeddings+s.embeddings, all.in+s.in, all.unknown+s.unknown
		saved.full, saved.sent, saved.guard = saved.full+s.full, saved.sent+s.sent, saved.guard+s.guard
		for _, part := range []struct {
			of   *float64
			into *float64
		}{{s.usd, &usd}, {s.savedUSD, &savedUSD}, {s.guardUSD, &guardUSD}} {
			if part.of != nil {
				*part.into += *part.of
			}
		}
	}
	total := func(name string, rows []map[string]any) float64 {
		sum := 0.0
		for _, r := range rows {
			v, _ := r[name].(float64) // null: no cost is known
			sum += v
		}
		return sum
	}
	list := func(args ...string) (rows []map[string]any) {
		require.NoError(l.t, json.Unmarshal([]byte(l.run(exitOK, args...).out.String()), &rows))
		return rows
	}
	for _, by := range []string{"cascade", "phase", "model", "session", "day"} {
		rows := list("cost", "--by", by, "--json")
		require.Equal(l.t, []float64{float64(all.calls), float64(all.embeddings), float64(all.in), float64(all.unknown)},
			[]float64{total("calls", rows), total("embedding_calls", rows), total("tokens_in", rows), total("unknown_cost_calls", rows)}, by)
		require.InDelta(l.t, usd, total("cost_usd", rows), 1e-9, by)
	}
	for _, by := range []string{"session", "phase", "model"} {
		rows := list("sql", "--json", "SELECT * FROM savings_by_"+by)
		require.Equal(l.t, []float64{float64(saved.full), float64(saved.sent), float64(saved.guard)},
			[]float64{total("full_tokens", rows), total("sent_tokens", rows), total("guard_calls", rows)}, by)
		require.InDelta(l.t, savedUSD, total("saved_usd", rows), 1e-9, by)
		require.InDelta(l.t, guardUSD, total("guard_usd", rows), 1e-9, by)
		for _, r := range rows {
			if r["guard_calls"].(float64) == 0 {
				require.Zero(l.t, r["guard_usd"], by)
			}
		}
	}
}

// requireSessions holds what the API says of the sessions against the sums.
func (s *serving) requireSessions(want map[string]*account) {
	t := s.lab.t
	t.Helper()
	var list struct{ Sessions []map[string]any }
	s.Do(t, http.MethodGet, "/api/sessions?limit=100", nil).Into(t, &list)
	require.Len(t, list.Sessions, len(want))
	for _, row := range list.Sessions {
		requireFigures(t, fmt.Sprint("list over HTTP: ", row["session_id"]), want[fmt.Sprint(row["session_id"])].costs(), row, sessionFigures...)
	}
	for id, of := range want {
		var row map[string]any
		s.Do(t, http.MethodGet, "/api/sessions/"+id, nil).Into(t, &row)
		requireFigures(t, "HTTP: "+id, of.costs(), row, sessionFigures...)
	}
}
