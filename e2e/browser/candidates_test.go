//go:build unix

package browser

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCandidates opens the screens of candidates: axe finds nothing serious, nothing is wider than a small screen, and two answers
// are compared by the keyboard alone.
func TestCandidates(t *testing.T) {
	s, b := inspected(t)
	o := s.Run("run", examples(t, "five_drafts.json"), "--offline", "--no-clickhouse", "--price-as", "gpt-5-mini", "--session", "drafts", "--quiet")
	require.Equal(t, 0, o.Code, "%s", o.Err)
	s.fits(b, []screen{
		{"candidates", "/sessions/drafts/candidates", "0 of 10 pairs"},
		{"sounding", "/sessions/drafts/candidates/letter", "by votes: the evidence is"},
		{"answers", "/sessions/drafts/candidates/letter?a=1&b=1.1", "only of candidate 1.1 (+)"},
	})
	b.open(s.base + "/sessions/drafts")
	b.to("Candidates")
	b.submit()
	b.to("letter")
	b.submit()
	require.Equal(t, s.base+"/sessions/drafts/candidates/letter", js[string](b, "location.href"))
	b.to("Candidate 1 against the kept one")
	b.submit()
	require.Contains(t, b.text("main"), "Candidate 1 against candidate 1.1")
}

// TestBetweenPhases opens the screens of selections, and tries another budget and strategies by the form.
func TestBetweenPhases(t *testing.T) {
	s, b := inspected(t)
	s.fits(b, []screen{
		{"selections", "/sessions/incident/selections", "Budget used"},
		{"selection", "/sessions/incident/selections/cause/select", "with the line behind them"},
		{"trial", "/sessions/incident/selections/cause/select?strategy=heuristic&budget=250", "budget of 250 tokens ends here"},
		{"refused", "/sessions/incident/selections/automation/select?strategy=llm&budget=600", "The strategy llm asks a model, which is paid for."},
	})
	b.open(s.base + "/sessions/incident/selections")
	b.to("cause")
	b.submit()
	b.to("Try")
	b.submit()
	require.Contains(t, js[string](b, "location.search"), "strategy=heuristic")
	require.Contains(t, b.text("main"), "In the run")
}

func examples(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../examples/cascades", file))
	require.NoError(t, err)
	return path
}

// screen is an address with what is to be seen there.
type screen struct{ name, address, has string }

// fits opens screens wide and narrow.
func (s *site) fits(b *tab, screens []screen) {
	for _, x := range screens {
		b.open(s.base + x.address)
		require.Contains(s.t, js[string](b, "document.body.innerText"), x.has, x.name)
		require.Empty(s.t, b.axe(), x.name)
		b.picture("inspector-" + x.name)
		b.small(x.name)
	}
}
