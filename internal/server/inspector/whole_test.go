package inspector_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// packed reads the numbers that the script of the matrix gets.
type packed struct {
	t     *testing.T
	bytes []byte
	at    int
}

func (p *packed) take() int {
	require.LessOrEqual(p.t, p.at+4, len(p.bytes))
	n := binary.LittleEndian.Uint32(p.bytes[p.at:])
	p.at += 4
	return int(n)
}

func (p *packed) list(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = p.take()
	}
	return out
}

// TestWholeMatrix: what the script draws of a session is its matrix.
func TestWholeMatrix(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	sessions := []string{"long"}
	inspectortest.Long{Calls: 60, Results: 3, Characters: 100, Every: 20}.Write(t, home, "long")
	for _, name := range []string{"rules1/fix_until_green", "rules2/rules2", "rules7/rules7_values"} {
		sessions = append(sessions, inspectortest.Copy(t, home, frozen+"/"+name+".jsonl"))
	}
	b := inspectortest.New(t, home, nil)
	for _, session := range sessions {
		rec, err := journal.Read(filepath.Join(config.SessionDir(home, session), journal.File))
		require.NoError(t, err)
		r, err := inspect.New(session, rec.Entries)
		require.NoError(t, err)
		m, err := r.Matrix()
		require.NoError(t, err)

		w := b.Fetch("/sessions/" + session + "/matrix/whole")
		require.Equal(t, "application/octet-stream", w.Header().Get("Content-Type"))
		p := &packed{t: t, bytes: w.Body.Bytes()}
		size := p.list(4)
		require.Equal(t, []int{len(m.Calls), len(m.Rows), len(m.Strips)}, size[1:], session)
		var words struct{ Forms, Reasons, Labels []string }
		require.NoError(t, json.Unmarshal(p.bytes[len(p.bytes)-size[0]:], &words))
		require.Equal(t, m.Calls, p.list(len(m.Calls)))
		for i := range m.Rows {
			row := p.list(4)
			require.Equal(t, string(m.Rows[i].Hash), fmt.Sprintf("%08x%08x", row[0], row[1]))
			require.Contains(t, words.Labels[row[2]], string(m.Rows[i].Role))
			require.EqualValues(t, m.Rows[i].Tokens, row[3])
		}
		first := p.list(len(m.Rows) + 1)
		strips := p.list(4 * len(m.Strips))
		for row := range m.Rows {
			for i := first[row]; i < first[row+1]; i++ {
				s := m.Strips[i]
				require.Equal(t, row, s.Row)
				strip := strips[4*i : 4*i+4]
				require.Equal(t, []int{s.First, s.Last, int(s.Tokens)}, []int{strip[0], strip[1], strip[3]})
				require.Equal(t, string(s.Form), words.Forms[strip[2]&0x7fff])
				require.Equal(t, s.Cached, strip[2]&0x8000 != 0)
				require.Equal(t, string(s.Reason), words.Reasons[strip[2]>>16])
			}
		}
		require.Equal(t, len(m.Strips), first[len(m.Rows)])
		require.Equal(t, len(p.bytes)-size[0], p.at, "nothing stands between")
	}
}

// TestWholeMatrixIsOffered: a matrix that is too long for a page is drawn by a script, and the page has a part with links.
func TestWholeMatrixIsOffered(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	inspectortest.Long{Calls: 125, Results: 1, Characters: 100}.Write(t, home, "long")
	inspectortest.Long{Calls: 20, Results: 1, Characters: 100}.Write(t, home, "short")
	b := inspectortest.New(t, home, nil)
	text := b.Open("/sessions/long/matrix")
	require.Contains(t, text, `data-matrix="/sessions/long/matrix/whole" data-base="/sessions/long"`)
	require.Contains(t, text, `<script src="/page/inspector/matrix.js" defer></script>`)
	require.Contains(t, text, "<details><summary>A part of it, with links</summary>")
	require.Contains(t, b.Open("/sessions/long/matrix?call=121&row=1"), "<details open><summary>")
	require.Contains(t, b.Open("/page/inspector/matrix.js"), "wholeMatrix")
	text = b.Open("/sessions/short/matrix")
	require.NotContains(t, text, "wholeMatrix")
	require.NotContains(t, text, "matrix.js")
}
