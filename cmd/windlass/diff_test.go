//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

// twoRuns makes two sessions of a cascade whose outputs differ, one of which a model tried to control
// the terminal in, and one that failed in its first phase.
func twoRuns(t *testing.T, l *lab) {
	t.Helper()
	const ended = `{"status":"completed","reason":"answered","output":%s}`
	first := map[string]string{"read/end": `"Two tests fail:\n- TestDisk\n- TestNetwork"`, "repair/end": `{"green":true,"files":1}`}
	second := map[string]string{
		"read/end":   `"Two tests fail:\n- TestDisk\n- TestNet\u001b]0;owned\u0007work, which needs a name server that the machine of the tests has not\n- \u202eTestTime"`,
		"repair/end": `{"green":true,"files":2}`,
	}
	for _, of := range []struct {
		session, as string
		outputs     map[string]string
	}{
		{"01k0aa1111111111111111111a", "", first},
		{"01k0aa1111111111111111111a", "01k0dd6666666666666666666f", second},
		{"01k0aa2222222222222222222b", "", nil},
	} {
		data, err := os.ReadFile("testdata/reports/entries.jsonl")
		require.NoError(t, err)
		lines := ""
		for line := range strings.Lines(string(data)) {
			e := &echo.Entry{}
			require.NoError(t, json.Unmarshal([]byte(line), e))
			if e.SessionID != of.session {
				continue
			}
			if e.Message != nil {
				e.ContentHash = e.Message.Hash()
			}
			if out := of.outputs[e.Key.String()]; out != "" {
				e.Data = fmt.Appendf(nil, ended, out)
			}
			if of.as != "" {
				e.SessionID, e.At = of.as, e.At.AddDate(0, 0, 3)
				if e.Usage != nil && e.Key.String() == "read/attempt1/turn2/model" {
					e.Usage.In, e.Usage.Out = 1700, 90
				}
			}
			sealed, err := json.Marshal(e)
			require.NoError(t, err)
			lines += string(sealed) + "\n"
		}
		require.NoError(t, journalFromLines(l.home, lines))
	}
}

// TestDiffOnTerminal shows two sessions side by side in terminals of two widths.
func TestDiffOnTerminal(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	twoRuns(t, l)
	for _, width := range []int{80, 200} {
		s := termtest.NewScreen(width, 300)
		for _, args := range [][]string{
			{"diff", "01k0aa1", "01k0dd6"},
			{"diff", "01k0aa1", "01k0dd6", "--phase", "read"},
			{"diff", "01k0aa1", "01k0aa2"},
			{"diff", "01k0aa1", "01k0aa1", "--phase", "repair"},
		} {
			shown := l.onTerminal(width, 300, exitOK, nil, append(args, "--no-pager")...)
			requireHarmless(t, shown)
			require.NotContains(t, shown, "\u202e")
			s.Write(t, "$ windlass "+strings.Join(args, " ")+"\n"+shown+"\n")
		}
		golden(t, fmt.Sprintf("diff-%d.golden", width), s.Text())
		if width == 80 {
			page, err := os.ReadFile("../../docs/cli.md")
			require.NoError(t, err)
			first, _, _ := strings.Cut(s.Text(), "\n$ windlass diff 01k0aa1 01k0dd6 --phase")
			require.Contains(t, string(page), strings.TrimPrefix(first, "$ "))
		}
	}
	l.env = append(l.env, "NO_COLOR=1")
	require.NotContains(t, l.onTerminal(80, 300, exitOK, nil, "diff", "01k0aa1", "01k0dd6", "--no-pager"), string(term.Red))
	piped := l.run(exitOK, "diff", "01k0aa1", "01k0dd6").out.String()
	require.Contains(t, piped, "01k0aa1111111111111111111a  audit")
	require.NotContains(t, piped, "\x1b")
	require.NotContains(t, l.run(exitOK, "diff", "01k0aa1", "01k0dd6", "--phase", "read").out.String(), "\x1b")
}

// TestDiffErrors: what cannot be compared ends with what to write instead.
func TestDiffErrors(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	twoRuns(t, l)
	for args, want := range map[string]string{
		"diff last":                      "Error: windlass diff takes two session ids, got [\"last\"]\nTry: windlass diff last~1 last\n",
		"diff 01k0aa last":               "Error: \"01k0aa\" is the beginning of 2 sessions:\n",
		"diff last last~7":               "Error: no session \"last~7\": there are only 3 sessions on this machine\nTry: windlass sessions list\n",
		"diff 01k0aa1 01k0aa2 --phase x": "Error: --phase \"x\": neither session has this phase\nTry: one of read, read~2, repair\n",
		"diff 01k0aa1 01k0aa2 --phase ":  "Error: --phase \"\": neither session has this phase\nTry: one of read, read~2, repair\n",
	} {
		require.True(t, strings.HasPrefix(l.run(exitUsage, strings.Split(args, " ")...).err.String(), want), args)
	}
	offered, directive := l.complete("diff", "")
	require.NotEmpty(t, offered)
	require.Contains(t, directive, "36")
	offered, _ = l.complete("diff", "last", "last~1", "")
	require.Empty(t, offered)
}

// TestDiffOfForks: forks say where they part, what they copied is in no figure of theirs, and a fork
// elsewhere, a run that was stopped and one that is redacted can be compared, too.
func TestDiffOfForks(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	l.file("two.json", `{"cascade_id": "two", "phases": [{"name": "one", "instructions": "Begin."}, {"name": "end", "instructions": "End."}]}`)
	l.file("two.script.json", `{"phases": {"one": [{"text": "Begun."}], "end": [{"text": "First\nOld", "usage": {"in": 10, "out": 2}}, {"text": "First\nNew"}]}}`)
	l.run(exitOK, "run", "two.json", "--offline", "--quiet", "--session", "parent")
	l.run(exitOK, "resume", "parent", "--fork", "end", "--quiet", "--session", "fork-one")
	l.run(exitOK, "resume", "parent", "--fork", "one", "--quiet", "--session", "fork-two")
	compared := func(a, b string) (c struct {
		Equal bool
		Fork  *struct {
			Parent string
			Seq    uint64
			Visit  string
		}
		Phases []struct {
			Visit string
			A, B  *struct {
				Copied   bool
				Attempts int
				Calls    int
			}
		}
	},
	) {
		require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "diff", a, b, "--json").out.String()), &c))
		return c
	}
	c := compared("parent", "fork-one")
	require.Equal(t, []any{"parent", "end"}, []any{c.Fork.Parent, c.Fork.Visit})
	require.True(t, c.Phases[0].B.Copied)
	require.Equal(t, []int{1, 1, 1, 0, 1}, []int{c.Phases[0].A.Calls, c.Phases[0].A.Attempts, c.Phases[0].B.Attempts, c.Phases[0].B.Calls, c.Phases[1].B.Calls})
	text := l.run(exitOK, "diff", "fork-one", "parent").out.String()
	require.Regexp(t, `\nfork    A is a fork of B: they part after entry \d+, in end\n`, text)
	require.Regexp(t, `\none +A +completed, copied +1 +1 +equal`, text)
	text = l.run(exitOK, "diff", "fork-one", "fork-two").out.String()
	require.Regexp(t, `\nfork    both are forks of parent: they part after entry \d+, in one\n`, text)
	require.Nil(t, compared("parent", "parent").Fork)
	require.True(t, compared("parent", "parent").Equal)

	require.NoError(t, os.RemoveAll(filepath.Join(l.home, "sessions", "fork-one")))
	require.Equal(t, "end", compared("parent", "fork-one").Fork.Visit, "ClickHouse has it")
	l.run(exitBudget, "run", "two.json", "--model", "plain", "--quiet", "--session", "stopped", "--max-tokens", "1")
	require.False(t, compared("parent", "stopped").Equal)
	l.run(exitOK, "sessions", "redact", "parent", l.hashOf("parent", "end/attempt1/turn1/model"))
	text = l.run(exitOK, "diff", "parent", "fork-two").out.String()
	require.Contains(t, text, "[redacted ")
}
