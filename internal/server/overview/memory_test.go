package overview_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/bank"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/figures/figurestest"
	"github.com/windlass-run/windlass/internal/memofile"
	"github.com/windlass-run/windlass/internal/memories"
)

// remembering are two sessions that have written into a bank and memos of a project, with a person in between.
type remembering struct {
	t       *testing.T
	home    string
	folder  string
	entries []*echo.Entry
}

// record keeps what a call came to as an entry of its session.
func (r *remembering) record(session string, call echo.Payload) {
	r.t.Helper()
	seq := uint64(1)
	for _, e := range r.entries {
		if e.SessionID == session {
			seq = e.Seq + 1
		}
	}
	e := echo.NewEntry(keyOf(seq), call)
	e.SessionID, e.CascadeID, e.Seq, e.At = session, "keeper", seq, figurestest.Began
	e.SetKeyFields()
	r.entries = append(r.entries, e)
}

func keyOf(seq uint64) echo.Key { return echo.MustKey(fmt.Sprintf("p/attempt1/turn%d/tool1", seq)) }

func (r *remembering) bank(session string, turn uint64, c *memory.Command) {
	r.t.Helper()
	s := bank.Open(r.home, r.folder, nil)
	start, err := s.Start(r.t.Context(), "notes", session)
	require.NoError(r.t, err)
	args, err := json.Marshal(c)
	require.NoError(r.t, err)
	out, err := s.Call(r.t.Context(), &memory.Request{Bank: "notes", Session: session, Key: keyOf(turn), Hash: echo.TextHash(args), Command: c, Seen: memory.Seen{Start: start.At}})
	require.NoError(r.t, err)
	require.False(r.t, out.Failed, out.Text)
	r.record(session, *out)
}

func (r *remembering) memo(session string, turn uint64, tool string, args map[string]any) {
	r.t.Helper()
	s := memofile.Open(r.home, r.folder, nil)
	start, err := s.Start(r.t.Context(), session)
	require.NoError(r.t, err)
	text, err := json.Marshal(args)
	require.NoError(r.t, err)
	c, err := memo.Read(tool, text)
	require.NoError(r.t, err)
	out, err := s.Call(r.t.Context(), &memo.Request{
		Session: session, Key: keyOf(turn), Hash: echo.TextHash(text), Command: c, Seen: memo.Seen{Start: map[string]uint64{memo.Project: start.At, memo.Global: start.Global}},
	})
	require.NoError(r.t, err)
	require.False(r.t, out.Failed, out.Text)
	r.record(session, *out)
}

func newRemembering(t *testing.T) *remembering {
	t.Helper()
	r := &remembering{t: t, home: t.TempDir(), folder: t.TempDir()}
	r.bank("first", 1, &memory.Command{Command: "create", Path: "/memories/plan.md", FileText: "one\ntwo\n"})
	r.bank("first", 2, &memory.Command{Command: "create", Path: "/memories/hostile " + strings.ReplaceAll(figurestest.Hostile[3:20], "/", "") + ".md", FileText: figurestest.Hostile})
	r.bank("second", 1, &memory.Command{Command: "view", Path: "/memories/plan.md"})
	r.bank("second", 2, &memory.Command{Command: "str_replace", Path: "/memories/plan.md", OldStr: "two", NewStr: "three " + figurestest.Hostile})
	_, err := bank.Open(r.home, r.folder, nil).Remember(t.Context(), &memory.Remembering{
		Bank: "notes", Session: "second", Key: echo.PhaseKey("p", 1),
		Texts: []memory.Text{{Hash: echo.TextHash([]byte(figurestest.Hostile)), Role: echo.RoleAssistant, Kind: echo.KindAnswer, Session: "second", Phase: "p", Visit: 1, Attempt: 1, Turn: 1, Text: figurestest.Hostile}},
	})
	require.NoError(t, err)
	desk := memories.Open(r.home, r.folder, figurestest.Hostile)
	draft, err := desk.Draft("notes", "edited.md")
	require.NoError(t, err)
	_, err = desk.Put(t.Context(), draft, "by a person")
	require.NoError(t, err)
	_, err = memories.Open(r.home, r.folder, "ann").Delete(t.Context(), "notes", "edited.md")
	require.NoError(t, err)
	draft, err = desk.Draft("shared:style", "rules.md")
	require.NoError(t, err)
	_, err = desk.Put(t.Context(), draft, "be brief")
	require.NoError(t, err)
	r.memo("first", 3, memo.ToolSave, map[string]any{"text": "Tides " + visible(figurestest.Hostile), "tags": []string{"sea"}})
	r.memo("first", 4, memo.ToolSave, map[string]any{"text": "For all.", "scope": memo.Global})
	for i := range bank.UnreadRuns {
		_, err := bank.Open(r.home, r.folder, nil).Start(t.Context(), "notes", fmt.Sprint("run", i))
		require.NoError(t, err)
	}
	return r
}

var link = regexp.MustCompile(`<a href="(/memory/[^"]*)"`)

// links returns the addresses of banks and memos that a page leads to, each once.
func links(text string) (out []string) {
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if to := html.UnescapeString(m[1]); !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	return out
}

// TestMemory: banks and memos of every project, with their versions, writers and readers, and what nobody reads.
func TestMemory(t *testing.T) {
	t.Parallel()
	r := newRemembering(t)
	db := clickhousetest.Open(t)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, r.entries))
	b := newBench(t, figurestest.Archive(r.home, db))
	text := b.open("/memory")
	table := rows(t, text, "Banks of memory of every project")
	require.ElementsMatch(t, []string{"notes", "shared:style"}, column(t, table, "Bank"))
	i := slices.Index(column(t, table, "Bank"), "notes")
	require.Equal(t, []string{"2", "5", "1"}, []string{column(t, table, "Files")[i], column(t, table, "Versions")[i], column(t, table, "Remembered")[i]})
	require.Contains(t, column(t, table, "Not read in 30 runs")[i], "/memories/plan.md")
	require.Len(t, rows(t, text, "Memos of every project"), 3)
	require.Len(t, links(text), 4)

	text = b.open("/memory/notes?" + url.Values{"project": {r.folder}}.Encode())
	files := rows(t, text, "Files of the bank")
	require.Contains(t, column(t, files, "State"), "not read in 30 runs")
	versions := rows(t, text, "Versions of files")
	require.Equal(t, []string{"ann", "second", "first", "first"}, []string{column(t, versions, "By")[0], column(t, versions, "By")[2], column(t, versions, "By")[3], column(t, versions, "By")[4]})
	require.Equal(t, "gone", column(t, versions, "State")[0])
	require.Equal(t, "1, last second", column(t, versions, "Read by")[4])
	require.Len(t, rows(t, text, "Texts that the bank has remembered by itself"), 2)

	wrote, err := figures.Rows[struct {
		Session, Path, Version string
	}](t.Context(), db, strings.ReplaceAll(statements(text)["What runs have written into this bank"], "session_id AS session_id", "session_id AS session"))
	require.NoError(t, err)
	var bySQL, shown []string
	for _, w := range wrote {
		bySQL = append(bySQL, w.Version+" "+w.Session)
	}
	for i, id := range column(t, versions, "Version") {
		if by := column(t, versions, "By")[i]; by == "first" || by == "second" {
			shown = append(shown, id+" "+by)
		}
	}
	require.ElementsMatch(t, shown, bySQL, "without what people have written")
	for _, to := range links(b.open("/memory")) {
		for title, sql := range statements(b.open(to)) {
			_, err := figures.Rows[map[string]any](t.Context(), db, sql)
			require.NoError(t, err, title)
		}
	}
}

// TestVersionOfMemory: a version of a file is shown with what it has changed, as text.
func TestVersionOfMemory(t *testing.T) {
	t.Parallel()
	r := newRemembering(t)
	b := newBench(t, &archive.Archive{Home: r.home})
	address := "/memory/notes?" + url.Values{"project": {r.folder}, "path": {"/memories/plan.md"}}.Encode()
	text := b.open(address)
	require.Contains(t, text, "<del>- two</del>")
	require.Contains(t, text, "<ins>+ three &lt;script&gt;")
	for query, want := range map[string]string{
		"path=nothing":                      "the bank notes has no file /memories/nothing",
		"path=/memories/plan.md&version=zz": "/memories/plan.md of the bank notes has no version zz",
		"path=/memories":                    "This is a folder",
		"path=../../etc/passwd":             "read the path in the bank notes",
	} {
		text := b.open("/memory/notes?" + query + "&" + url.Values{"project": {r.folder}}.Encode())
		require.Contains(t, html.UnescapeString(text), want, query)
	}
}

// TestHostileMemory: no text of a bank or a memo does anything.
func TestHostileMemory(t *testing.T) {
	t.Parallel()
	r := newRemembering(t)
	b := newBench(t, &archive.Archive{Home: r.home})
	addresses := append(links(b.open("/memory")), "/memory")
	for _, to := range addresses {
		addresses = append(addresses, links(b.open(to))...)
	}
	require.Greater(t, len(addresses), 8)
	for _, to := range addresses {
		text := b.open(to)
		for _, bad := range []string{"<script>alert", " style=", "\x1b", "\u202e", "\u200b"} {
			require.False(t, strings.Contains(text, bad), "%q in %s", bad, to)
		}
	}
}

// TestNoMemory: an address that names no bank of the list is refused, and no path of it is looked at.
func TestNoMemory(t *testing.T) {
	t.Parallel()
	r := newRemembering(t)
	b := newBench(t, &archive.Archive{Home: r.home})
	for _, address := range []string{
		"/memory/notes", "/memory/none", "/memory/..%2F..", "/memory/notes?project=/etc", "/memory/shared:style?project=" + url.QueryEscape(r.folder),
		"/memory/memos:project", "/memory/memos:project?project=/etc", "/memory/memos:global?project=/etc", "/memory/memos:else", "/memory/%3Cscript%3E",
	} {
		w := b.ask(address)
		require.Equal(t, http.StatusNotFound, w.Code, address)
		require.NotContains(t, w.Body.String(), "<script>")
	}
	require.NoError(t, os.RemoveAll(r.folder))
	require.Contains(t, b.open("/memory"), "shared:style")
}

// visible returns a text without characters that memos refuse.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}
