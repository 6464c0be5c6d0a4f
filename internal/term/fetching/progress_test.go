package fetching

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

// firstRun shows the steps of a first run, and returns what it shows.
func firstRun(inPlace bool) (*Progress, *bytes.Buffer) {
	var out bytes.Buffer
	p := NewProgress(&out)
	p.line.OnTerminal = inPlace
	for done := int64(0); done <= 8; done++ {
		p.Show(fetch.Progress{Step: embedded.StepDownload, Done: done * 1_000_000, Total: 8_000_000})
	}
	p.Show(fetch.Progress{Step: embedded.StepStart})
	return p, &out
}

func TestFetchProgress(t *testing.T) {
	t.Parallel()
	step := string(embedded.StepDownload)
	p, out := firstRun(false)
	require.Equal(t, step+": 0 % of 8 MB\n"+step+": 25 % of 8 MB\n"+step+": 50 % of 8 MB\n"+step+": 75 % of 8 MB\n"+step+": 100 % of 8 MB\n", out.String())
	require.False(t, p.fetching, "the engine is being started")

	p, out = firstRun(true)
	s := termtest.NewScreen(60, 10)
	s.Write(t, out.String())
	require.Equal(t, string(embedded.StepStart)+"\n", s.Text(), "one line, drawn over")
	p.Mute()
	p.Show(fetch.Progress{Step: embedded.StepDownload, Total: 1, Done: 1})
	s = termtest.NewScreen(60, 10)
	s.Write(t, out.String()+"next")
	require.Equal(t, string(embedded.StepStart)+"\nnext\n", s.Text(), "nothing is shown once muted")
}

// TestStartIsNotShown: starting an engine that is there takes no time worth a line.
func TestStartIsNotShown(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := NewProgress(&out)
	p.Show(fetch.Progress{Step: embedded.StepStart})
	require.Empty(t, out.String())
	require.False(t, p.fetching)
}
