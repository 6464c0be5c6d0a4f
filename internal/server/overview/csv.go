package overview

import (
	"encoding/csv"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/server/page"
)

// costCSV sends the table of costs whole, as a file that spreadsheets read.
func (x *overview) costCSV(v *page.Visit) error {
	a, err := x.askedOf(v.Context(), v.Query())
	if err != nil {
		return page.Refusal(http.StatusUnprocessableEntity, "%s", sentence(err.Error()))
	}
	if x.Archive.Database == nil {
		return page.Refusal(http.StatusServiceUnavailable, "%s", sentence(figures.ErrNoDatabase.Error()))
	}
	rows, err := x.Archive.Costs(v.Context(), a.by, a.filter)
	if err != nil {
		return err
	}
	return v.Download("windlass-cost-by-"+string(a.by)+".csv", "text/csv; charset=utf-8; header=present", func(to io.Writer) error {
		w := csv.NewWriter(to)
		w.UseCRLF = true
		if err := w.Write(csvHeads(a.by)); err != nil {
			return err
		}
		for i := range rows {
			if err := w.Write(csvRow(a.by, &rows[i])); err != nil {
				return err
			}
		}
		w.Flush()
		return w.Error()
	})
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// csvNames are the columns that say what a row is about, as windlass cost --json has them.
var csvNames = map[clickhouse.CostBy][]string{
	clickhouse.ByCascade: {"cascade_id"}, clickhouse.ByPhase: {"cascade_id", "phase_name"}, clickhouse.ByModel: {"model", "provider"},
	clickhouse.BySession: {"session_id", "cascade_id"}, clickhouse.ByDay: {"day"}, clickhouse.ByTag: {"tag"},
}

func csvHeads(by clickhouse.CostBy) []string {
	return append(slices.Clone(csvNames[by]), "calls", "embedding_calls", "unknown_cost_calls", "failed_calls", "scripted_calls",
		"tokens_in", "tokens_cached", "tokens_out", "tokens_reasoning", "cost_usd", "duration_ms", "price_as", "pretend_usd")
}

func csvRow(by clickhouse.CostBy, r *clickhouse.CostRow) []string {
	names := map[string]string{
		"cascade_id": r.CascadeID, "phase_name": r.Phase, "model": r.Model, "provider": r.Provider, "session_id": r.SessionID, "day": r.Day, "tag": r.Tag,
	}
	var out []string
	for _, n := range csvNames[by] {
		out = append(out, inert(names[n]))
	}
	for _, n := range []uint64{r.Calls, r.EmbeddingCalls, r.UnknownCostCalls, r.FailedCalls, r.ScriptedCalls} {
		out = append(out, strconv.FormatUint(n, 10))
	}
	for _, n := range []int64{r.TokensIn, r.TokensCached, r.TokensOut, r.TokensReasoning} {
		out = append(out, strconv.FormatInt(n, 10))
	}
	return append(out, exact(r.CostUSD), exact(&r.DurationMS), inert(r.PriceAs), exact(r.PretendUSD))
}

// exact writes a number with every digit, and what is not known as nothing.
func exact(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// inert returns a text that no spreadsheet takes for a formula.
func inert(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
