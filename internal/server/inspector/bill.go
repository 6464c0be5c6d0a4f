package inspector

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/internal/server/web"
	"github.com/windlass-run/windlass/internal/simulate"
)

// billTime is how long a simulation may take that a browser waits for.
const billTime = 40 * time.Second

// billView is the screen of what the session would have cost otherwise.
type billView struct {
	head
	Policies []string // as they were asked for; the last is empty, for another one
	Prices   string
	Known    []string // names of policies
	Problems []string // what is wrong with what was asked for
	Groups   []billGroup
	Paid     string
	Copied   string // says which calls are those of another session; "": none
	Pastes   []paste
	Series   string // where the script gets the calls
	SQL      string
}

// copiedText says how many of the calls a fork has copied.
func (v *visit) copiedText() string {
	c := &v.of.Detail.Copied
	if c.CopiedCalls == 0 {
		return ""
	}
	return quantity.Of(int(min(c.CopiedCalls, 1e9)), "call") + " of the session " + c.ForkedFrom + ", which this one was forked from, are among them." //nolint:gosec // bounded
}

// billGroup is a table at one price.
type billGroup struct {
	Prices string
	USD    bool
	Rows   []billRow
	Notes  []string
}

// billRow is a policy, or the run itself.
type billRow struct {
	Policy              string
	AsRun, Best         bool
	Tokens              int64
	Saved, Cached       string
	Money               string
	OfFull, Against     string // of full history; of the run
	OfBest, Kept, Worst string
	Changed             string
}

// paste is a policy as text for a cascade, and for one phase of it.
type paste struct{ Policy, Text, Phase string }

func bill(v *visit) error {
	view := billView{
		head: v.head("bill"), Policies: chosenPolicies(v.Query()), Prices: v.pricesOf(v.Query()), Known: simulate.PolicyNames(),
		SQL: billSQL(v.of.ID), Series: pathOf(v.of.ID) + "/bill/series?" + v.Query().Encode(),
	}
	report, problems, err := v.simulate(view.Policies, view.Prices, false)
	if err != nil {
		return err
	}
	view.Problems = problems
	if report != nil {
		for _, g := range report.Groups {
			view.Groups = append(view.Groups, newBillGroup(g))
		}
		view.Paid, view.Copied, view.Pastes = paidText(report), v.copiedText(), pastesOf(view.Policies)
	}
	view.Policies = append(view.Policies, "")
	v.Scripts, v.Styles = []string{web.ChartScript}, []string{web.ChartStyle}
	status := http.StatusOK
	if len(problems) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return v.ShowAs(status, "bill", v.of.ID+": the bill, otherwise", view)
}

// billSeries answers the script with the money of each call under each policy.
func billSeries(v *visit) error {
	report, problems, err := v.simulate(chosenPolicies(v.Query()), v.pricesOf(v.Query()), true)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return page.Refusal(http.StatusUnprocessableEntity, "%s", problems[0])
	}
	type series struct {
		Policy string    `json:"policy"`
		SoFar  []float64 `json:"so_far"`
	}
	type chart struct {
		Prices string   `json:"prices"`
		USD    bool     `json:"usd"`
		Series []series `json:"series"`
	}
	charts := []chart{}
	for _, g := range report.Groups {
		c := chart{Prices: g.Prices.String(), USD: g.Prices.USD, Series: []series{}}
		for _, s := range g.Series {
			c.Series = append(c.Series, series{s.Policy, s.MoneySoFar})
		}
		charts = append(charts, c)
	}
	return v.JSON(charts)
}

// chosenPolicies returns what the address names, or what is compared when it names none.
func chosenPolicies(q url.Values) (texts []string) {
	for _, text := range q["policy"] {
		if text = strings.TrimSpace(text); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) > 0 {
		return texts[:min(len(texts), mostPolicies)]
	}
	for _, p := range simulate.ComparisonSet() {
		texts = append(texts, p.Name)
	}
	return texts
}

const mostPolicies = 8

// pricesOf returns the prices that the address names, or those of the models of the session, as far as they are known.
func (v *visit) pricesOf(q url.Values) string {
	if text := strings.TrimSpace(q.Get("prices")); text != "" {
		return text
	}
	var models []string
	r, err := v.of.Record()
	if err != nil {
		return noPrices
	}
	for i := range r.Calls {
		model := r.Calls[i].Model
		if r.Calls[i].PriceAs != "" {
			model = r.Calls[i].PriceAs
		}
		if p, err := v.price(model); err == nil && p != nil && !slices.Contains(models, model) {
			models = append(models, model)
		}
	}
	if len(models) == 0 {
		return noPrices
	}
	return strings.Join(models[:min(len(models), 3)], ", ")
}

// noPrices is what a token of the cache costs as a share of another where no price is known.
const noPrices = "0.1"

func (v *visit) price(model string) (*config.Price, error) {
	if v.Price == nil {
		return nil, nil //nolint:nilnil // no price is known
	}
	return v.Price(model)
}

// simulate replays the session. problems say what is wrong with what was asked for.
func (v *visit) simulate(policies []string, prices string, series bool) (r *simulate.Report, problems []string, err error) {
	for _, text := range policies {
		if _, ok := simulate.PolicySettings(text); !ok && text != simulate.PolicyHindsight {
			return nil, []string{"policy " + text + ": expected " + strings.Join(simulate.PolicyNames(), ", ") + ", or an object of intra_context settings"}, nil
		}
	}
	named, found, err := simulate.ChoosePolicies(policies, "policy")
	if err != nil {
		return nil, problemsOf(found, err), nil
	}
	cards, err := simulate.ChoosePrices(split(prices), v.price)
	if err != nil {
		return nil, problemsOf(nil, err), nil
	}
	all, err := simulate.FromRecording(v.of.ID, &journal.Recording{Entries: v.of.Entries})
	if errors.Is(err, simulate.ErrNoConversations) {
		return nil, []string{"No model was asked in this session: there is nothing to replay."}, nil
	}
	if err != nil {
		return nil, nil, failure.New(failure.Damaged, err, "")
	}
	ctx, cancel := context.WithTimeout(v.Context(), billTime)
	defer cancel()
	sim := &simulate.Simulation{Policies: simulate.WithHindsight(named), Prices: cards, Series: series}
	collected := simulate.NewCollector(sim)
	err = sim.Run(ctx, all, func(o *simulate.Outcome) error {
		collected.Add(o)
		return nil
	})
	if ctx.Err() != nil && v.Context().Err() == nil {
		return nil, []string{"This takes longer than a page waits. On a terminal: windlass simulate " + v.of.ID}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return collected.Report(), nil, nil
}

func problemsOf(found cascade.Diagnostics, err error) (out []string) {
	for _, d := range found {
		out = append(out, d.String())
	}
	if len(out) == 0 {
		out = []string{err.Error()}
	}
	return out
}

// split returns the prices of a list.
func split(text string) (out []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func newBillGroup(g *simulate.Group) billGroup {
	out := billGroup{Prices: g.Prices.String(), USD: g.Prices.USD}
	rows := g.Policies
	if g.AsRun != nil {
		rows = append([]*simulate.Summary{g.AsRun}, rows...)
	}
	money := make([]float64, len(rows))
	for i, s := range rows {
		money[i] = s.Money
	}
	texts := moneyTexts(g.Prices.USD, money)
	for i, s := range rows {
		out.Rows = append(out.Rows, newBillRow(s, texts[i]))
	}
	if g.AsRun != nil && g.NothingChanges() {
		out.Notes = append(out.Notes, "No policy would have sent anything else.")
	}
	return out
}

func newBillRow(s *simulate.Summary, money string) billRow {
	r := billRow{
		Policy: s.Policy, AsRun: s.Policy == simulate.AsRun, Tokens: s.TokensSent, Saved: quantity.Share(s.Saved, 1), Cached: quantity.Share(s.Cached, 1),
		Money: money, OfFull: quantity.Share(s.OfFull, 1),
	}
	if s.MoneyOfRun != nil {
		r.Against = quantity.Share(*s.MoneyOfRun-1, 1)
		if *s.MoneyOfRun > 1 {
			r.Against = "+" + r.Against
		}
	}
	if s.OfBest != nil {
		r.OfBest = quantity.Share(*s.OfBest, 1)
	}
	if s.KeptShare != nil {
		r.Kept = quantity.Share(*s.KeptShare, 1)
	}
	if s.Changed != nil {
		r.Changed = quantity.Of(*s.Changed, "call")
	}
	return r
}

func moneyTexts(usd bool, amounts []float64) []string {
	if usd {
		return quantity.USDColumn(amounts)
	}
	out := make([]string, len(amounts))
	for i, a := range amounts {
		out[i] = quantity.Grouped(int64(a+0.5)) + " tokens"
	}
	return out
}

// paidText says what the run paid; "" when nothing is known, or nothing was paid.
func paidText(r *simulate.Report) string {
	for _, g := range r.Groups {
		if g.PaidUSD != nil && *g.PaidUSD > 0 {
			return quantity.USD(*g.PaidUSD)
		}
	}
	return ""
}

// pastesOf returns the policies that a cascade can have.
func pastesOf(policies []string) (out []paste) {
	for _, text := range policies {
		if settings, ok := simulate.PolicySettings(text); ok {
			out = append(out, paste{text, `"auto_context": {"intra_phase": ` + string(settings) + `}`, `"intra_context": ` + string(settings)})
		}
	}
	return out
}
