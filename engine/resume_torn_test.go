package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
)

// twoTurns asks a model, runs a tool that may do harm, and asks again.
const twoTurns = `{"cascade_id":"c","phases":[{"name":"p","instructions":"Go.","tackle":["write"]}]}`

// runTwoTurns runs or resumes twoTurns on a journal, which it closes.
func runTwoTurns(t *testing.T, j *journal.Journal, past []*echo.Entry) (*Result, *world) {
	t.Helper()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(twoTurns), c))
	w := newWorld()
	model := answerFunc(func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		w.models[req.Hash()]++
		if req.Site.Turn == 1 {
			return call("write", `{"n":1}`)(req)
		}
		return say("It is done.")(req)
	})
	r := &Runner{Model: modelOf(model), Tools: w, DefaultModel: "m"}
	log := echo.ContinueLog("s1", uint64(len(past)), nil, j)
	res, err := r.Run(context.Background(), Spec{Cascade: c, Log: log, WorkDir: "/scratch", Recording: past})
	require.NoError(t, err)
	require.NoError(t, log.Close(context.Background()))
	return res, w
}

// modelOf is a model that is one function.
type modelOf answerFunc

func (m modelOf) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	return m(req)
}

// Whatever the last line of a journal is that a crash leaves, and wherever in it the file was cut
// off, the session is resumed from there: the line is lost and nothing else is.
func TestResumeFromEveryByteOfTheLastLine(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "s1")
	j, err := journal.Create(dir, journal.Header{Rules: core.Rules, SessionID: "s1", Cascade: []byte(twoTurns), Input: []byte(`{}`)})
	require.NoError(t, err)
	whole, asked := runTwoTurns(t, j, nil)
	require.Equal(t, "It is done.", whole.Output)
	require.Len(t, asked.models, 2)
	text, err := os.ReadFile(j.Path())
	require.NoError(t, err)
	rec, err := journal.Read(j.Path())
	require.NoError(t, err)
	start := bytes.IndexByte(text, '\n') + 1
	for i, e := range rec.Entries {
		line := text[start : start+bytes.IndexByte(text[start:], '\n')+1]
		from, before := start, rec.Entries[:i]
		start += len(line)
		if e.NodeType == echo.NodeModelCall && e.Turn == 1 || e.NodeType == echo.NodeToolStart || e.NodeType == echo.NodeRunEnd {
			t.Run(fmt.Sprintf("%d %s", i+1, e.NodeType), func(t *testing.T) {
				t.Parallel()
				for cut := range line {
					resumeCut(t, text[:from+cut], before)
				}
			})
		}
	}
}

// resumeCut resumes what is left of a journal, of which these entries are whole.
func resumeCut(t *testing.T, text []byte, left []*echo.Entry) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s1")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, journal.File), text, 0o600))
	j, rec, err := journal.Open(dir)
	require.NoError(t, err)
	require.Len(t, rec.Entries, len(left))
	again, w := runTwoTurns(t, j, rec.Entries)
	require.Equal(t, "It is done.", again.Output)
	calls := (&inMemory{list: left}).of(echo.NodeModelCall)
	require.Len(t, w.models, 2-len(calls), "an answer that is recorded is not asked for again")
	sound, err := journal.Read(j.Path())
	require.NoError(t, err)
	require.False(t, sound.Torn)
	require.Equal(t, echo.StatusCompleted, record.EndOf(sound.Entries).Status)
}
