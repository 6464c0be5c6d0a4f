package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

// fetching tells a progress what a first run tells it, and returns what it shows.
func fetching(inPlace bool) (*fetchProgress, *bytes.Buffer) {
	var out bytes.Buffer
	p := newFetchProgress(&out)
	p.line.OnTerminal = inPlace
	for done := int64(0); done <= 8; done++ {
		p.show(clickhouse.Progress{Step: embedded.StepDownload, Done: done << 20, Total: 8 << 20})
	}
	p.show(clickhouse.Progress{Step: embedded.StepStart})
	return p, &out
}

func TestFetchProgress(t *testing.T) {
	t.Parallel()
	step := string(embedded.StepDownload)
	p, out := fetching(false)
	require.Equal(t, step+": 0% of 8 MiB\n"+step+": 25% of 8 MiB\n"+step+": 50% of 8 MiB\n"+step+": 75% of 8 MiB\n"+step+": 100% of 8 MiB\n", out.String())
	require.False(t, p.isFetching(), "the engine is being started")

	p, out = fetching(true)
	s := termtest.NewScreen(60, 10)
	s.Write(t, out.String())
	require.Equal(t, string(embedded.StepStart)+"\n", s.Text(), "one line, drawn over")
	p.mute()
	p.show(clickhouse.Progress{Step: embedded.StepDownload, Total: 1, Done: 1})
	s = termtest.NewScreen(60, 10)
	s.Write(t, out.String()+"next")
	require.Equal(t, string(embedded.StepStart)+"\nnext\n", s.Text(), "nothing is shown once muted")
}

// TestStartIsNotToldOf: starting an engine that is there takes no time worth a line.
func TestStartIsNotToldOf(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newFetchProgress(&out)
	p.show(clickhouse.Progress{Step: embedded.StepStart})
	require.Empty(t, out.String())
	require.False(t, p.isFetching())
}
